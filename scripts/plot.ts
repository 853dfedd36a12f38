/** A panel of a plot. */
export interface Panel {
  /** With the unit of y. */
  label: string;
  /** Powers of ten on the axis of y. */
  isLogarithmic?: boolean;
  lines: readonly Line[];
}

export interface Line {
  /** Written at its end; a line alone in its panel needs none. */
  name?: string;
  points: readonly { x: number; y: number }[];
}

/** What the panels of a plot share. */
export interface Axis {
  /** Where it is labelled, and how; on a logarithmic axis the places are equally far from each other. */
  ticks: readonly { x: number; label: string }[];
  isLogarithmic?: boolean;
  /** Places that have a name. */
  marks?: readonly { x: number; label: string }[];
}

const size = { width: 860, panel: 170, left: 70, right: 20, names: 130, gap: 46, top: 40 };
const mostPoints = 600;
const colours = ['#06c', '#c33', '#283', '#83a', '#b70', '#088', '#555'];

/** Panels below each other, on one axis of x, as an SVG. */
export function plot(title: string, panels: readonly Panel[], axis: Axis): string {
  const height = size.top + panels.length * (size.panel + size.gap);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${height}" font-family="sans-serif" font-size="12">
<title>${escaped(title)}</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="${size.left}" y="20" font-size="14" fill="#222">${escaped(title)}</text>
${panels.map((panel, index) => drawn(panel, size.top + index * (size.panel + size.gap), axis)).join('\n')}
</svg>
`;
}

function drawn({ label, lines, isLogarithmic = false }: Panel, top: number, axis: Axis): string {
  const hasNames = lines.some(({ name }) => name !== undefined);
  const width = size.width - size.left - size.right - (hasNames ? size.names : 0);
  const bottom = top + size.panel;
  const points = lines.flatMap((line) => line.points);
  const along = scale(
    [...points, ...axis.ticks].map(({ x }) => x),
    axis.isLogarithmic,
  );
  const values = labelled(
    points.map(({ y }) => y),
    isLogarithmic,
  );
  const up = scale(values, isLogarithmic);
  const xOf = (x: number) => (size.left + along(x) * width).toFixed(1);
  const yOf = (y: number) => (bottom - up(y) * (size.panel - 20)).toFixed(1);
  const rows = values.map((value) => {
    const y = yOf(value);
    const text = `<text x="${size.left - 8}" y="${Number(y) + 4}" text-anchor="end" fill="#555">${number(value)}</text>`;
    return `<path d="M${size.left} ${y}h${width}" stroke="#ddd"/>${text}`;
  });
  const columns = axis.ticks.map(
    (tick) =>
      `<text x="${xOf(tick.x)}" y="${bottom + 16}" text-anchor="middle" fill="#555">${escaped(tick.label)}</text>`,
  );
  const named = (axis.marks ?? []).map(
    (mark) =>
      `<path d="M${xOf(mark.x)} ${top + 20}V${bottom}" stroke="#c60" stroke-dasharray="4 3"/>` +
      `<text x="${Number(xOf(mark.x)) + 4}" y="${top + 32}" fill="#c60">${escaped(mark.label)}</text>`,
  );
  const paths = lines.map((line, index) => {
    const path = thinned(line.points).map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${xOf(x)} ${yOf(y)}`);
    return `<path d="${path.join('')}" fill="none" stroke="${colourOf(index)}" stroke-width="1.2"/>`;
  });
  return [
    `<text x="${size.left}" y="${top + 10}" fill="#222">${escaped(label)}</text>`,
    ...rows,
    ...columns,
    ...named,
    ...paths,
    ...names(lines, size.left + width + 8, (y) => Number(yOf(y)), bottom),
  ].join('\n');
}

/** The names of the lines at their ends, one below the other where the ends are close. */
function names(lines: readonly Line[], x: number, yOf: (y: number) => number, bottom: number): string[] {
  const apart = 14;
  const places = lines
    .flatMap(({ name, points }, index) => {
      const last = points.at(-1);
      return name === undefined || !last ? [] : { name, index, y: yOf(last.y) + 4 };
    })
    .sort((a, b) => a.y - b.y);
  for (const [at, place] of places.entries()) place.y = Math.max(place.y, (places[at - 1]?.y ?? 0) + apart);
  for (const [at, place] of [...places.entries()].reverse())
    place.y = Math.min(place.y, (places[at + 1]?.y ?? bottom + apart) - apart);
  return places.map(
    ({ name, index, y }) =>
      `<text x="${x}" y="${y.toFixed(1)}" fill="${colourOf(index)}">${escaped(name)}</text>`,
  );
}

/** From the values to 0 for the lowest of them and 1 for the highest; a linear scale begins at 0. */
function scale(values: readonly number[], isLogarithmic = false): (value: number) => number {
  const at = isLogarithmic ? Math.log : (value: number) => value;
  const lowest = isLogarithmic ? at(Math.min(...values)) : 0;
  const range = at(Math.max(...values)) - lowest || 1;
  return (value) => (at(value) - lowest) / range;
}

/** The values that the axis of y has a line for, the first and last of which enclose all. */
function labelled(values: readonly number[], isLogarithmic: boolean): number[] {
  const highest = roundUp(Math.max(...values, 1e-9));
  if (!isLogarithmic) return [0, 0.5, 1].map((share) => share * highest);
  const first = Math.floor(Math.log10(Math.min(...values)));
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values))));
  return Array.from({ length: last - first + 1 }, (_, step) => 10 ** (first + step));
}

// Of each stretch its highest point, since it is the peaks that matter.
function thinned(points: Line['points']): Line['points'] {
  const stretch = Math.ceil(points.length / mostPoints);
  return Array.from({ length: Math.ceil(points.length / stretch) }, (_, index) =>
    points.slice(index * stretch, (index + 1) * stretch).reduce((a, b) => (b.y > a.y ? b : a)),
  );
}

/** To 1, 2 or 5 and zeros. */
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5].find((one) => one * power >= value) ?? 10) * power;
}

function colourOf(line: number): string {
  return colours[line % colours.length] as string;
}

function number(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 1 ? 3 : 1 });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
