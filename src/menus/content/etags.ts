const csvSuffix = '-csv"';

/** The ETag of a menu in one media type: no two representations share a strong tag (RFC 9110, 8.8.3). */
export function tagOf(menuTag: string, mediaType: 'application/json' | 'text/csv'): string {
  return mediaType === 'text/csv' ? menuTag.replace(/"$/, csvSuffix) : menuTag;
}

/** The menu's own tags for those of its representations. */
export function menuTagsOf(tags: string[] | null): string[] | null {
  return tags?.map((tag) => (tag.endsWith(csvSuffix) ? tag.replace(csvSuffix, '"') : tag)) ?? null;
}
