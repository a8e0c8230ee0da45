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
}

export const ACCOUNTS: readonly [Account, ...Account[]] = [accountOf('main'), accountOf('other')]

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
  /** The nonce account of each relayer. */
  readonly nonces: readonly Address[]
}

/** The relayer at this place. */
export function accountAt(index: number): Account {
  return ACCOUNTS[index] ?? ACCOUNTS[0]
}

/** Fills up a relayer's account. */
export function fund({ solana }: Environment, index: number): void {
  setBalance(solana, accountAt(index).address, RICH)
}

/** Fills up everyone who signs anything, and the account that is paid. */
export function fundAll(solana: TestSolana): void {
  for (const { address: own } of [...ACCOUNTS, ...CUSTOMERS]) setBalance(solana, own, RICH)
  setBalance(solana, RECEIVER, RICH)
}

/** Sets what an account has, in lamports, as if it had always been so. */
export function setBalance(solana: TestSolana, of: string, lamports: bigint): void {
  solana.plant(of, { lamports, data: new Uint8Array(), owner: SYSTEM_PROGRAM, executable: false })
}

function accountOf(relayer: string): Account {
  return { relayer, address: address(addressOf(relayer)), seed: seedOf(relayer) }
}
