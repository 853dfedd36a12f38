import type { DemoClient } from '../scripts/demo/load.ts';
import type { Config } from './config.ts';

/** Tells who started the service where it is and what to try first; the lines work as pasted. */
export function greet(config: Config, address: string | undefined, demo: DemoClient | undefined): void {
  if (address === undefined) {
    console.log('menu-management-service: worker is ready');
    return;
  }
  const base = address.replace('[::]', 'localhost').replace('0.0.0.0', 'localhost');
  console.log(`\nMenu Management Service is ready at ${base}`);
  console.log(`\n  docs           ${base}/docs\n  contract       ${base}/openapi.json`);
  if (!config.databaseUrl) console.log(`  data           ${config.dataDir}`);
  if (demo) console.log(tryOut(`${base}/api/v1`, demo));
}

function tryOut(api: string, { client_id, client_secret, menu_id, item_id }: DemoClient): string {
  return `
  demo client    ${client_id}
  its secret     ${client_secret}

Try it: get a token, read a whole menu, take the salmon off it.

  TOKEN=$(curl -s -u ${client_id}:${client_secret} -d grant_type=client_credentials ${api}/oauth/token | sed 's/.*"access_token":"\\([^"]*\\).*/\\1/')
  curl -s -H "Authorization: Bearer $TOKEN" ${api}/menus/${menu_id}
  curl -s -H "Authorization: Bearer $TOKEN" -X POST ${api}/menus/${menu_id}/items/${item_id}/toggle
`;
}
