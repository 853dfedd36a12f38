export default {
  input: './openapi.json',
  output: 'src/generated',
  plugins: ['@hey-api/client-fetch', 'zod', { name: '@hey-api/sdk', validator: true }],
};
