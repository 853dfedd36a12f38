import { type RawBuilder, sql } from 'kysely';

/*
 * The text that searches match is stored beside each item, since folding case and width of a description takes ten
 * times as long as searching it. A hash shows which texts it was made from: if they have changed since, as after a
 * write by the previous release, the search builds it again.
 */

/** The columns of an item that searches match, for these texts. */
export function searchColumns(
  name: RawBuilder<unknown>,
  description: RawBuilder<unknown>,
): { searchable: RawBuilder<string>; searchable_of: RawBuilder<number> } {
  return { searchable: foldedTexts(name, description), searchable_of: hashOf(name, description) };
}

/**
 * Whether the name or the description of the item contains this text, which has no line break. The index covers both as
 * one text, where a match could begin in the name and end in the description.
 */
export function mentions(q: RawBuilder<unknown>): RawBuilder<boolean> {
  const pattern = sql`'%' || regexp_replace(search_text(${q}), '([\\\\%_])', '\\\\\\1', 'g') || '%'`;
  return sql`(search_text(name || ' ' || description) like ${pattern}
    and searchable_text(searchable, searchable_of, name, description) like ${pattern})`;
}

// No name has a line break, so a match lies within one of the two.
function foldedTexts(name: RawBuilder<unknown>, description: RawBuilder<unknown>): RawBuilder<string> {
  return sql`search_text(${name}) || e'\\n' || search_text(${description})`;
}

function hashOf(name: RawBuilder<unknown>, description: RawBuilder<unknown>): RawBuilder<number> {
  return sql`hashtextextended(${name} || e'\\n' || ${description}, 0)`;
}
