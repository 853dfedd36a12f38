const names = new Map<string, string>();

/** Registers the name under which the driver prepares this SQL text. */
export function nameStatement(text: string, name: string): void {
  names.set(text, name);
}

/** The name to prepare a text under; undefined for other texts, of which there may be any number. */
export function statementName(text: string): string | undefined {
  return names.get(text);
}
