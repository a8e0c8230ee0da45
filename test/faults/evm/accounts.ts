import { DEV_ADDRESSES, DEV_KEYS } from '../../support/service.ts'

/** The relayers of the standard configuration with their accounts. */
export const ACCOUNTS = [
  { relayer: 'main', address: DEV_ADDRESSES[0], key: DEV_KEYS[0] },
  { relayer: 'other', address: DEV_ADDRESSES[1], key: DEV_KEYS[1] },
] as const

/** Blocks until a transaction is final; reorganisations and lags are kept shallower, as on an honest network. */
export const CONFIRMATIONS = 3
