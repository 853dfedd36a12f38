/*
 * The rule of direction: src/ from top to bottom. A file imports from its own line and from those below it, never from
 * above, and nowhere is there a circle.
 */
const order = [
  'main.ts',
  'process/',
  'cells/',
  'app.ts',
  'operations.ts',
  'worker.ts',
  'webhooks/(?!delivery/)',
  'webhooks/delivery/',
  'menus/content/',
  'menus/(?!content/)',
  'categories/',
  'modifier-groups/',
  'items/',
  'locations/',
  'hours/',
  'events/',
  'records/',
  'accounts/',
  'contract/',
  'http/',
  'db/',
  'embedded/',
  'metrics/',
];

const upward = order.slice(1).map((folder, index) => ({
  name: `nothing-above-${folder
    .replace(/\/?\(.*/, '')
    .replace(/[/.]+/g, '-')
    .replace(/-$/, '')}`,
  severity: 'error',
  from: { path: `^src/${folder}` },
  to: { path: order.slice(0, index + 1).map((above) => `^src/${above}`) },
}));

module.exports = {
  forbidden: [
    ...upward,
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'every-file-has-a-place',
      comment: 'a new folder of src/ gets its line in the order above',
      severity: 'error',
      from: { path: '^src/', pathNot: order.map((folder) => `^src/${folder}`) },
      to: {},
    },
    {
      name: 'src-stands-alone',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(scripts|test)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
