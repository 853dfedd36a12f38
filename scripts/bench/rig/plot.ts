import { plot } from '../../plot.ts';
import type { Figure } from '../bench.ts';

/** Requests a second and p99 of each operation over connections, as an SVG. @throws when there is no figure */
export function plotOf(figures: readonly Figure[]): string {
  const places = [...new Set(figures.map(({ connections }) => connections))].sort((a, b) => a - b);
  if (places.length === 0) throw new Error('none of these benches gives what --plot draws');
  const lines = (y: (figure: Figure) => number) =>
    [...Map.groupBy(figures, ({ operation }) => operation)].map(([name, own]) => ({
      name,
      points: own.map((figure) => ({ x: figure.connections, y: y(figure) })).sort((a, b) => a.x - b.x),
    }));
  return plot(
    'One process of the service over connections',
    [
      { label: 'requests a second', lines: lines(({ api }) => api.perSecond) },
      { label: 'p99, ms', isLogarithmic: true, lines: lines(({ api }) => api.p99) },
    ],
    {
      isLogarithmic: true,
      ticks: places.map((x) => ({ x, label: x === 1 ? '1 connection' : String(x) })),
    },
  );
}
