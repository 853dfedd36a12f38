/** A line of a plot; x in minutes. */
export interface Line {
  /** With its unit. */
  label: string;
  points: readonly { x: number; y: number }[];
}

const size = { width: 860, panel: 170, left: 70, right: 20, gap: 46, top: 40 };
const mostPoints = 600;

/**
 * Lines below each other, on one axis of minutes, as an SVG.
 * @param marks places on it that have a name
 */
export function plot(title: string, lines: readonly Line[], marks: { x: number; label: string }[]): string {
  const height = size.top + lines.length * (size.panel + size.gap);
  const end = Math.max(1, ...lines.flatMap(({ points }) => points.map(({ x }) => x)));
  const panels = lines.map((line, index) =>
    panel(line, size.top + index * (size.panel + size.gap), end, marks),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${height}" font-family="sans-serif" font-size="12">
<title>${escaped(title)}</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="${size.left}" y="20" font-size="14" fill="#222">${escaped(title)}</text>
${panels.join('\n')}
</svg>
`;
}

function panel(
  { label, points }: Line,
  top: number,
  end: number,
  marks: { x: number; label: string }[],
): string {
  const width = size.width - size.left - size.right;
  const bottom = top + 20 + size.panel - 20;
  const highest = roundUp(Math.max(...points.map(({ y }) => y), 1e-9));
  const xOf = (x: number) => (size.left + (x / end) * width).toFixed(1);
  const yOf = (y: number) => (bottom - (y / highest) * (size.panel - 20)).toFixed(1);
  const rows = [0, 0.5, 1].map((share) => {
    const y = yOf(share * highest);
    const text = `<text x="${size.left - 8}" y="${Number(y) + 4}" text-anchor="end" fill="#555">${number(share * highest)}</text>`;
    return `<path d="M${size.left} ${y}h${width}" stroke="#ddd"/>${text}`;
  });
  const step = roundUp(end / 8);
  const columns = Array.from({ length: Math.floor(end / step) + 1 }, (_, index) => index * step).map(
    (minute) =>
      `<text x="${xOf(minute)}" y="${bottom + 16}" text-anchor="middle" fill="#555">${number(minute)} min</text>`,
  );
  const named = marks.map(
    ({ x, label }) =>
      `<path d="M${xOf(x)} ${top + 20}V${bottom}" stroke="#c60" stroke-dasharray="4 3"/>` +
      `<text x="${Number(xOf(x)) + 4}" y="${top + 32}" fill="#c60">${escaped(label)}</text>`,
  );
  const path = thinned(points).map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${xOf(x)} ${yOf(y)}`);
  return [
    `<text x="${size.left}" y="${top + 10}" fill="#222">${escaped(label)}</text>`,
    ...rows,
    ...columns,
    ...named,
    `<path d="${path.join('')}" fill="none" stroke="#06c" stroke-width="1.2"/>`,
  ].join('\n');
}

// Of each stretch its highest point, since it is the peaks that matter.
function thinned(points: Line['points']): Line['points'] {
  const stretch = Math.ceil(points.length / mostPoints);
  return Array.from({ length: Math.ceil(points.length / stretch) }, (_, index) =>
    points.slice(index * stretch, (index + 1) * stretch).reduce((a, b) => (b.y > a.y ? b : a)),
  );
}

/** To 1, 2 or 5 and zeros. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5].find((one) => one * power >= value) ?? 10) * power;
}

function number(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 1 });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
