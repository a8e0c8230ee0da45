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
  /** A further account of the relayer. */
  readonly further?: Pick<Account, 'address' | 'key'>
}

/** Returns the addresses of a relayer in lower case, its own first. */
export function addressesOf({ address, further }: Account): string[] {
  return [address, ...(further === undefined ? [] : [further.address])].map((one) => one.toLowerCase())
}

/** The accounts where the second relayer has two: the last one is the fifth of the mnemonic of anvil. */
export function withFurtherAccount(accounts: readonly Account[]): Account[] {
  const further = {
    address: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
    key: '0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a',
  } as const
  return accounts.map((account) => (account.relayer === SHARED.relayer ? account : { ...account, further }))
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
