const names = new Map<string, string>();

export function nameStatement(text: string, name: string): void {
  names.set(text, name);
}

/** The name to prepare a text under; undefined for a text that is no statement, of which there may be any number. */
export function statementName(text: string): string | undefined {
  return names.get(text);
}
