import {
  Account,
  Asset,
  type Keypair,
  Operation,
  type Transaction,
  TransactionBuilder,
  type xdr,
} from '@stellar/stellar-sdk'
import type { TestLedger } from '../../../simulators/stellar/start-ledger.ts'
import type { Random } from '../../../test/support/random.ts'
import { keypairOf, MAIN, RECEIVER } from '../../../test/support/stellar-scenario.ts'

/** Signs nothing. */
export const VICTIM = keypairOf('victim')

/** Fees of an operation in stroops, on both sides of the policy. */
export const FEES = ['100', '1000', '1001', '1000000', '1000000000'] as const

/** A transaction of the attacker's making. */
export interface DrawnTransaction {
  readonly name: string
  readonly transaction: Transaction
  readonly isOfRelayer: boolean
}

interface DrawOptions {
  readonly ledger: TestLedger
  readonly random: Random
  /** Signs the transaction. */
  readonly attacker: Keypair
  /** The accounts that may be the source of the transaction. */
  readonly sources: readonly Keypair[]
  readonly fees: readonly string[]
}

/** Draws one with one to three operations, each with a source of its own, and signs it as the attacker. */
export function drawTransaction({ ledger, random, attacker, sources, fees }: DrawOptions): DrawnTransaction {
  const source = random.pick(sources)
  const { sequence } = ledger.account(source.publicKey()) ?? { sequence: 0n }
  const builder = new TransactionBuilder(new Account(source.publicKey(), String(sequence)), {
    fee: random.pick(fees),
    networkPassphrase: ledger.passphrase,
  })
  const names: string[] = []
  for (let count = random.int(1, 3); count > 0; count -= 1) {
    const { name, operation } = drawOperation(random, attacker)
    names.push(name)
    builder.addOperation(operation)
  }
  const time = ledger.ledgers.at(-1)?.closeTime ?? 0
  const transaction = builder.setTimebounds(0, time + 300).build()
  transaction.sign(attacker)
  const self = MAIN.publicKey()
  const isOfRelayer = source.publicKey() === self || names.some((name) => name.endsWith(' of the relayer'))
  return { name: `${nameOf(source)}: ${names.join(', ')}`, transaction, isOfRelayer }
}

const KINDS = [
  'payment',
  'create account',
  'merge',
  'set options',
  'path payment',
  'change trust',
  'manage data',
  'clawback',
  'bump sequence',
] as const
const ENDING: readonly string[] = ['merge', 'bump sequence']

function drawOperation(random: Random, attacker: Keypair): { name: string; operation: xdr.Operation } {
  const kind = random.pick(KINDS)
  // The attacker goes on to need its own account and its sequence numbers.
  const account = random.pick(ENDING.includes(kind) ? [MAIN, VICTIM] : [MAIN, VICTIM, attacker, attacker])
  const source = account.publicKey()
  const destination = random.pick([attacker.publicKey(), RECEIVER])
  const asset = new Asset('LOOT', attacker.publicKey())
  const native = Asset.native()
  const makers: Readonly<Record<(typeof KINDS)[number], () => xdr.Operation>> = {
    payment: () => Operation.payment({ source, destination, asset: native, amount: '1' }),
    'create account': () =>
      Operation.createAccount({
        source,
        destination: keypairOf(String(random.int(0, 1e9))).publicKey(),
        startingBalance: '2',
      }),
    merge: () => Operation.accountMerge({ source, destination }),
    'set options': () =>
      Operation.setOptions({ source, signer: { ed25519PublicKey: attacker.publicKey(), weight: 255 } }),
    'path payment': () =>
      Operation.pathPaymentStrictSend({
        source,
        sendAsset: native,
        sendAmount: '1',
        destination,
        destAsset: native,
        destMin: '1',
        path: [],
      }),
    'change trust': () => Operation.changeTrust({ source, asset }),
    'manage data': () => Operation.manageData({ source, name: 'loot', value: 'x' }),
    clawback: () => Operation.clawback({ source, asset, from: VICTIM.publicKey(), amount: '1' }),
    'bump sequence': () => Operation.bumpSequence({ source, bumpTo: String(2n ** 62n) }),
  }
  return { name: `${kind} of ${nameOf(account)}`, operation: makers[kind]() }
}

function nameOf(account: Keypair): string {
  if (account.publicKey() === MAIN.publicKey()) return 'the relayer'
  return account.publicKey() === VICTIM.publicKey() ? 'the victim' : 'the attacker'
}
