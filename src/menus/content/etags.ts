const csvSuffix = '-csv"';

/** The ETag of a menu in one media type: no two representations share a strong one (RFC 9110, 8.8.3). */
export function representationETag(menuETag: string, mediaType: 'application/json' | 'text/csv'): string {
  return mediaType === 'text/csv' ? menuETag.replace(/"$/, csvSuffix) : menuETag;
}

/** The menu's own ETags for those of its representations. */
export function menuETagsOf(eTags: string[] | null): string[] | null {
  return eTags?.map((tag) => (tag.endsWith(csvSuffix) ? tag.replace(csvSuffix, '"') : tag)) ?? null;
}
