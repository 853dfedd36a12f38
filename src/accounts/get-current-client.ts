import type { components } from '../../generated/api.ts';
import { build, type Param, statement } from '../db/statement.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';

/** Tells a client what it may do with the token that it presents. */
export function getCurrentClient({ limits }: { limits: components['schemas']['ClientLimits'] }) {
  return async ({ database, caller }: Call<'getCurrentClient'>): Promise<Reply<'getCurrentClient'>> => {
    const { accountId: account_id, clientId: client_id, scopes, locationIds: location_ids } = caller;
    const [account] = await selectAccount(database, { account_id });
    if (!account) throw new Error(`there is no account ${account_id}`);
    return ok({
      data: {
        client_id,
        account_id,
        account_name: account.name,
        scopes: [...scopes].toSorted(),
        location_ids,
        limits,
      },
    });
  };
}

const selectAccount = statement('accounts.getCurrentClient', (p: Param<{ account_id: number }>) =>
  build.selectFrom('account').select('name').where('account_id', '=', p('account_id', 'bigint')),
);
