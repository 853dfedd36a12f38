import type { Database } from '../../src/db/database.ts';
import type { Command } from './command.ts';

export const webhookHelp = `  list-webhooks [--client CLIENT_ID] [--account NAME]
                            list endpoints, each with the client that it belongs to`;

export const webhookCommands: Record<string, Command> = {
  'list-webhooks': {
    options: ['client', 'account'],
    prepare: (wanted) => (database) => listWebhooks(database, wanted),
  },
};

/** Oldest first. `disabled_reason` is null while events are sent, and 'paused' if somebody switched it off. */
async function listWebhooks(database: Database, { client, account }: { client?: string; account?: string }) {
  const { ownerObjection } = await import('../../src/webhooks/delivery/owner.ts');
  return database
    .selectFrom('webhook')
    .innerJoin('account', 'account.account_id', 'webhook.account_id')
    .select(['webhook.account_id', 'account.name as account', 'webhook.client_id', 'webhook_id', 'url'])
    .select(['event_types', 'location_ids', 'menu_ids'])
    .select((eb) =>
      eb.fn
        .coalesce(
          ownerObjection(),
          'disabled_reason',
          eb.case().when('enabled', '=', false).then('paused').else(null).end(),
        )
        .as('disabled_reason'),
    )
    .$if(client !== undefined, (webhooks) => webhooks.where('webhook.client_id', '=', client as string))
    .$if(account !== undefined, (webhooks) => webhooks.where('account.name', '=', account as string))
    .orderBy('webhook_id')
    .execute();
}
