import { type Address, address } from '@solana/kit'
import { SYSTEM_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import type { TestSolana, TestSolanaNode } from '../../../simulators/solana/start-solana.ts'
import { createWallet, type Wallet } from '../../../simulators/solana/wallet.ts'
import { addressOf, RECEIVER, SOL, seedOf } from '../../../test/support/solana-scenario.ts'
import type { AmountContent } from '../ledger.ts'

/** A relayer with its key. */
export interface Account {
  readonly relayer: string
  readonly address: Address
  readonly seed: Uint8Array
  /** Its further account, where histories are about such. */
  readonly further?: Pick<Account, 'address' | 'seed'>
}

export const ACCOUNTS: readonly [Account, ...Account[]] = [
  accountOf('main'),
  { ...accountOf('other'), further: accountOf('other further') },
]

/** Those who sign transactions that the relayers pay for. */
export const CUSTOMERS: readonly [Wallet, ...Wallet[]] = [createWallet(), createWallet()]

/** More than any history can spend, in lamports. */
const RICH = 1_000n * SOL

/** What everything that happens on the network needs. */
export interface Environment {
  readonly solana: TestSolana
  /** The nodes that the service asks, behind their faults. */
  readonly own: readonly TestSolanaNode[]
  readonly newContent: () => AmountContent
  /** The second relayer has two accounts. */
  readonly pools: boolean
  /** The nonce account of each relayer. */
  readonly nonces: readonly Address[]
}

/** The relayer at this place. */
export function accountAt(index: number): Account {
  return ACCOUNTS[index] ?? ACCOUNTS[0]
}

/** Returns the addresses of a relayer, its own first. */
export function addressesOf({ address: own, further }: Account): Address[] {
  return [own, ...(further ? [further.address] : [])]
}

/** Fills up the accounts of a relayer. */
export function fund({ solana }: Environment, index: number): void {
  for (const own of addressesOf(accountAt(index))) setBalance(solana, own, RICH)
}

/** Fills up everyone who signs anything, and the account that is paid. */
export function fundAll(solana: TestSolana): void {
  const all = [...ACCOUNTS.flatMap(addressesOf), ...CUSTOMERS.map((customer) => customer.address)]
  for (const one of all) setBalance(solana, one, RICH)
  setBalance(solana, RECEIVER, RICH)
}

/** Sets what an account has, in lamports, as if it had always been so. */
export function setBalance(solana: TestSolana, of: string, lamports: bigint): void {
  solana.plant(of, { lamports, data: new Uint8Array(), owner: SYSTEM_PROGRAM, executable: false })
}

function accountOf(relayer: string): Account {
  return { relayer, address: address(addressOf(relayer)), seed: seedOf(relayer) }
}
