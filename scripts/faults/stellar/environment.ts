import type { Keypair } from '@stellar/stellar-sdk'
import type { TestLedger } from '../../../simulators/stellar/start-ledger.ts'
import { keypairOf, XLM } from '../../../test/support/stellar-scenario.ts'
import type { AmountContent } from '../ledger.ts'

/** The relayers with their keys; only the second has channel accounts, where a history has some. */
export const ACCOUNTS: readonly Account[] = [
  { relayer: 'main', keypair: keypairOf('main') },
  { relayer: 'other', keypair: keypairOf('other'), further: keypairOf('other further') },
]

/** A relayer with its keys. */
interface Account {
  readonly relayer: string
  readonly keypair: Keypair
  /** That of its further account, where histories are about such. */
  readonly further?: Keypair
}

/** The account that other programs use as well: its index. The others show that the service takes nothing of its own for a third party's. */
export const SHARED = 0

/** Place of the relayer with channel accounts. */
export const CHANNELED = 1

/** Those who sign transactions that the relayers pay for. */
export const CUSTOMERS: readonly Keypair[] = [keypairOf('customer 1'), keypairOf('customer 2')]

/** More than any history can spend, in stroops. */
const RICH = 10_000n * XLM

/** What everything that happens on the ledger needs. */
export interface Environment {
  readonly ledger: TestLedger
  readonly newContent: () => AmountContent
  /** Everything that ever waited in the queue of a node, as the network gossips it; oldest first. */
  readonly gossip: Set<string>
}

/** Someone without any part in it. */
export const STRANGER: Keypair = keypairOf('stranger')

/** Remembers what waits in the queue now. */
export function listen({ ledger, gossip }: Environment): void {
  for (const { envelope } of ledger.queue()) gossip.add(envelope.toXdr('base64'))
}

/** Makes a ledger; anyone who wants to has seen what waited for it. */
export function closeLedger(environment: Environment, seconds?: number): void {
  listen(environment)
  environment.ledger.close(seconds === undefined ? {} : { seconds })
}

/** Fills up the accounts of a relayer. */
export function fund({ ledger }: Environment, account: number): void {
  for (const address of addressesOf(account)) setBalance(ledger, address, RICH)
}

/** Fills up everyone who signs anything. */
export function fundAll(environment: Environment): void {
  for (const [account] of ACCOUNTS.entries()) fund(environment, account)
  setBalance(environment.ledger, STRANGER.publicKey(), RICH)
  for (const customer of CUSTOMERS) setBalance(environment.ledger, customer.publicKey(), RICH)
}

/** Sets what an account has, in stroops. */
export function setBalance(ledger: TestLedger, address: string, balance: bigint): void {
  ledger.fund(address, balance - (ledger.account(address)?.balance ?? 0n))
}

/** The addresses of a relayer, its own first. */
export function addressesOf(account: number): string[] {
  const { keypair, further } = ACCOUNTS[account] ?? {}
  return [keypair, further].flatMap((key) => key?.publicKey() ?? [])
}
