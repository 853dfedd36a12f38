/** Demo data as the loader takes it. Arrays are in display order; `is_available` defaults to true. */
export interface DemoItem {
  external_id: string;
  name: string;
  description: string;
  price: number;
  photo_url: string | null;
  allergens: string[];
  dietary_tags: string[];
  is_available?: boolean;
}

export interface DemoCategory {
  external_id: string;
  name: string;
  description: string;
  items: DemoItem[];
}

export interface DemoMenu {
  external_id: string;
  name: string;
  description: string;
  is_active: boolean;
  categories: DemoCategory[];
}

export interface DemoLocation {
  external_id: string;
  name: string;
  address: {
    line1: string;
    line2: string | null;
    city: string;
    region: string | null;
    postal_code: string | null;
    country: string;
  };
  phone: string;
  timezone: string;
  currency: string;
  menus: DemoMenu[];
}
