import {
  Account,
  Asset,
  type Keypair,
  Operation,
  type Transaction,
  TransactionBuilder,
} from '@stellar/stellar-sdk'
import type { TestLedger } from '../../../simulators/stellar/start-ledger.ts'
import { RECEIVER } from '../../../test/support/stellar-scenario.ts'

/** Stroops of a lumen as a decimal places count: amounts are written in lumens. */
const DECIMALS = 7

interface SignedPayment {
  readonly keypair: Keypair
  /** In stroops. */
  readonly amount: bigint
  /** How long it can be included, in seconds. */
  readonly seconds: number
  /** Offered for each operation, in stroops. */
  readonly fee: number
}

/** A payment that someone has signed outside of the service, with the next sequence number of the ledger. */
export function signPayment(
  ledger: TestLedger,
  { keypair, amount, seconds, fee }: SignedPayment,
): Transaction {
  const address = keypair.publicKey()
  const { sequence } = ledger.account(address) ?? { sequence: 0n }
  const time = ledger.ledgers.at(-1)?.closeTime ?? 0
  const transaction = new TransactionBuilder(new Account(address, String(sequence)), {
    fee: String(fee),
    networkPassphrase: ledger.passphrase,
  })
    .addOperation(
      Operation.payment({ destination: RECEIVER, asset: Asset.native(), amount: inLumens(amount) }),
    )
    .setTimebounds(0, time + seconds)
    .build()
  transaction.sign(keypair)
  return transaction
}

/** A transaction that someone has signed outside of the service, and that raises the sequence number beyond its own. */
export function signJump(
  ledger: TestLedger,
  { keypair, by, seconds, fee }: Omit<SignedPayment, 'amount'> & { readonly by: number },
): Transaction {
  const address = keypair.publicKey()
  const { sequence } = ledger.account(address) ?? { sequence: 0n }
  const transaction = new TransactionBuilder(new Account(address, String(sequence)), {
    fee: String(fee),
    networkPassphrase: ledger.passphrase,
  })
    .addOperation(Operation.bumpSequence({ bumpTo: String(sequence + 1n + BigInt(by)) }))
    .setTimebounds(0, (ledger.ledgers.at(-1)?.closeTime ?? 0) + seconds)
    .build()
  transaction.sign(keypair)
  return transaction
}

/** The same in a fee bump by the same key. */
export function bumpFee(ledger: TestLedger, inner: Transaction, keypair: Keypair, fee: number) {
  const bump = TransactionBuilder.buildFeeBumpTransaction(keypair, String(fee), inner, ledger.passphrase)
  bump.sign(keypair)
  return bump
}

/** Hands an envelope to the ledger itself, past all faulty nodes; gives the status of its answer, `TROUBLE` without one. */
export async function submit({ url }: TestLedger, envelope: string): Promise<string> {
  const call = { jsonrpc: '2.0', id: 1, method: 'sendTransaction', params: { transaction: envelope } }
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(call) })
  const { result } = (await answer.json()) as { result?: { status: string } }
  return result?.status ?? 'TROUBLE'
}

function inLumens(stroops: bigint): string {
  const digits = stroops.toString().padStart(DECIMALS + 1, '0')
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`
}
