import { DEV_ADDRESSES, DEV_KEYS } from '../../../test/support/service.ts'

/** The relayers of the standard configuration with their accounts. */
export const ACCOUNTS = [
  { relayer: 'main', address: DEV_ADDRESSES[0], key: DEV_KEYS[0] },
  { relayer: 'other', address: DEV_ADDRESSES[1], key: DEV_KEYS[1] },
] as const satisfies readonly Account[]

/** An account, and the relayer that operates it. */
export interface Account {
  readonly relayer: string
  readonly address: string
  readonly key: `0x${string}`
}

/** The fourth account of the mnemonic of anvil. Its relayer is private: a builder gets what it signs, and no one else. */
export const PRIVATE_ACCOUNT: Account = {
  relayer: 'private',
  address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  key: '0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6',
}

/** The account that other programs use as well. The others show that the service takes nothing of its own for a third party's. */
export const SHARED: Account = ACCOUNTS[0]

/** Blocks until a transaction is final; reorganisations and lags are kept shallower, as on an honest network. */
export const CONFIRMATIONS = 3
