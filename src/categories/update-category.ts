import { data } from '../db/json.ts';
import { withCompleteHours } from '../hours/hours.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { partialUpdate } from '../records/update.ts';
import { categories, categoryFields, categoryKey, requireCategory } from './category.ts';

/** Changes the fields present in the body, in one statement with its event. */
export async function updateCategory(call: Call<'updateCategory'>): Promise<Reply<'updateCategory'>> {
  const { params, caller } = call;
  const { etag, resource } = await update(call, categoryKey(params, caller), withCompleteHours(call.body));
  return ok(data(resource), { ETag: etag });
}

const update = partialUpdate({
  name: 'categories.updateCategory',
  kind: categories,
  fields: categoryFields,
  require: requireCategory,
  eventTypes: 'category.updated',
});
