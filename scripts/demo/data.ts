import { athensDinner } from './athens-dinner.ts';
import { athensSeasonal } from './athens-seasonal.ts';
import { dubaiBrunch } from './dubai-brunch.ts';
import { dubaiDinner } from './dubai-dinner.ts';
import { osakaDinner } from './osaka-dinner.ts';
import { osakaDrinks } from './osaka-drinks.ts';
import type { DemoLocation } from './types.ts';

export type { DemoCategory, DemoItem, DemoLocation, DemoMenu } from './types.ts';

/** Lanternbird, a restaurant group that does not exist; streets and telephone numbers are made up too. */
export const demoLocations: DemoLocation[] = [
  {
    external_id: 'osaka',
    name: '灯鳥 大阪 (Lanternbird Osaka)',
    address: {
      line1: '北区灯鳥町1丁目2-3',
      line2: '灯鳥ビル 2階',
      city: '大阪市',
      region: '大阪府',
      postal_code: '530-0000',
      country: 'JP',
    },
    phone: '+81 6 0000 0142',
    timezone: 'Asia/Tokyo',
    currency: 'JPY',
    menus: [osakaDinner, osakaDrinks],
  },
  {
    external_id: 'dubai',
    name: 'طائر الفانوس دبي (Lanternbird Dubai)',
    address: {
      line1: 'شارع طائر الفانوس 14',
      line2: 'الطابق الأرضي',
      city: 'دبي',
      region: null,
      postal_code: null,
      country: 'AE',
    },
    phone: '+971 4 000 0142',
    timezone: 'Asia/Dubai',
    currency: 'AED',
    menus: [dubaiDinner, dubaiBrunch],
  },
  {
    external_id: 'athens',
    name: 'Φαναροπούλι Αθήνα (Lanternbird Athens)',
    address: {
      line1: 'Οδός Φαναροπουλιού 27',
      line2: null,
      city: 'Αθήνα',
      region: 'Αττική',
      postal_code: '100 00',
      country: 'GR',
    },
    phone: '+30 210 000 0142',
    timezone: 'Europe/Athens',
    currency: 'EUR',
    menus: [athensDinner, athensSeasonal],
  },
];
