import { readFileSync, writeFileSync } from 'node:fs';

const { openapi } = JSON.parse(readFileSync('openapi.json', 'utf8'));
writeFileSync('generated.ts', `// From OpenAPI ${openapi}\nexport type Item = { ${process.argv[2]} };\n`);
console.error('this generator is deprecated');
