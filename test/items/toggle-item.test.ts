import t from 'tap';
import { startTestService } from '../support/service.ts';

t.test('toggle flips what readers see', async (t) => {
  const { api } = await startTestService(t);
  const menus = await api.get('/menus');
  t.equal(menus.status, 200);
  const menu = await api.get(`/menus/${menus.body.data[0].menu_id}`);
  t.equal(menu.status, 200);
  const item = menu.body.data.categories[0].items[0];
  const toggled = await api.post(`/menus/${item.menu_id}/items/${item.item_id}/toggle`);
  t.equal(toggled.status, 200);
  t.equal(toggled.body.data.is_available, !item.is_available);
});
