import { Account, Asset, type Keypair, Operation, TransactionBuilder } from '@stellar/stellar-sdk'
import { RECEIVER } from '../stellar-scenario.ts'
import type { TestLedger } from './start-ledger.ts'

/** A payment to the receiver that somebody signs outside of the service. Everything but its signer has a default. */
export interface SignedPayment {
  readonly keypair: Keypair
  /** Its sequence number minus the next one of the account; 0 by default. */
  readonly ahead?: number
  /** How long it can be included, in seconds of the ledger; `never`: it has no time bounds. 600 by default. */
  readonly seconds?: number | 'never' | undefined
  /** In lumens; 1 by default. */
  readonly amount?: string
  readonly passphrase?: string
}

/** Signs a payment; `TransactionEnvelope`, XDR in base64. */
export function signedPayment(
  ledger: TestLedger,
  { keypair, ahead = 0, seconds = 600, amount = '1', passphrase = ledger.passphrase }: SignedPayment,
): string {
  const { sequence } = ledger.account(keypair.publicKey()) ?? { sequence: 0n }
  const source = new Account(keypair.publicKey(), String(sequence + BigInt(ahead)))
  const builder = new TransactionBuilder(source, { fee: '100', networkPassphrase: passphrase }).addOperation(
    Operation.payment({ destination: RECEIVER, asset: Asset.native(), amount }),
  )
  const transaction =
    seconds === 'never'
      ? builder.setTimeout(0).build()
      : builder.setTimebounds(0, (ledger.ledgers.at(-1)?.closeTime ?? 0) + seconds).build()
  transaction.sign(keypair)
  return transaction.toXDR()
}
