import type { components } from '../../generated/api.ts';

type AddressInput = components['schemas']['AddressInput'];

/** An address as it is stored and shown: with every field, and without white space around the required ones. */
export function completeAddress(address: AddressInput | null): Required<AddressInput> | null {
  if (!address) return null;
  const { line1, line2 = null, city, region = null, postal_code = null, country } = address;
  return { line1: line1.trim(), line2, city: city.trim(), region, postal_code, country };
}
