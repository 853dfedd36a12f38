/**
 * Why a pattern does not mean the same in ECMAScript (with and without `u`), PCRE, Ruby, Python, RE2, Rust, Java and
 * .NET, or as text of a program in one of them; undefined when it does.
 *
 * Left are printable ASCII characters, classes of them, groups, alternatives and the greedy quantifiers, from `^` to
 * `$`: classes such as `\d` and `.` are wider with Unicode in some, escapes such as `\x5d` turn into the character in
 * double-quoted PHP, and some match the whole text where others search in it. What is about other characters is an
 * `x-check`. One difference remains that no pattern can take away: where a text ends in a line feed, `$` stands before
 * it, too, in PCRE, Ruby, Python and .NET.
 */
export function notPortable(pattern: string): string | undefined {
  if (!/^[ -~]*$/.test(pattern)) return 'it has other characters than printable ASCII';
  if (!/^\^.*[^\\]\$$/.test(pattern)) return 'it must begin with ^ and end with $';
  if (/#[{$@]/.test(pattern)) return 'Ruby reads #{, #$ and #@ as the beginning of an expression';
  let depth = 0;
  let before = '';
  const parts = pattern.slice(1, -1);
  for (let at = 0; at < parts.length; ) {
    token.lastIndex = at;
    const [found] = token.exec(parts) ?? [];
    if (found === undefined) return `${parts.slice(at, at + 3)} is not in all of them`;
    if (found === '(') depth += 1;
    if (found === ')') depth -= 1;
    if (found === '|' && depth === 0) return 'alternatives must be in a group, or ^ and $ are of one each';
    if (isQuantifier(found) && (isQuantifier(before) || /^[(|]?$/.test(before)))
      return `${before}${found} is not in all of them`;
    // Of one character some count code points, some halves of surrogate pairs, and some bytes.
    if (before.startsWith('[^') && !/^[*+]$/.test(found)) return 'a class that excludes needs * or +';
    before = found;
    at += found.length;
  }
  return before.startsWith('[^') ? 'a class that excludes needs * or +' : undefined;
}

const isQuantifier = (found: string) => /^([*+?]|\{\d.*\})$/.test(found);

// A class with its ranges; nothing that some take for an operation on classes. A backslash before a mark that has a
// meaning of its own. A quantifier. A part of a group. A plain character.
const token =
  /\[\^?(?:(?!&&|--|\|\||~~)(?:\\[\\[\]^-]|[^\\[\]^]))+\]|\\[\\^$.*+?()[\]{}|/]|[*+?]|\{\d+(?:,\d*)?\}|\((?!\?)|[)|]|[^\\^$.*+?()[\]{}|]/y;
