import {
  FeeBumpTransaction,
  Keypair,
  Operation,
  rpc,
  type Transaction,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk'
import { type LedgerOptions, startLedger, type TestLedger } from '../start-ledger.ts'

/** One XLM, in stroops. */
export const XLM = 10_000_000n

/** The properties of a transaction besides its operations. */
export interface Wish {
  /** Stroops for each operation; 100 by default. */
  readonly fee?: string
  /** By default the one after the account's. */
  readonly sequence?: bigint
  /** Seconds since 1970; no end by default. */
  readonly maxTime?: bigint
  readonly signers?: readonly Keypair[]
  /** Further preconditions. */
  readonly change?: (builder: TransactionBuilder) => TransactionBuilder
}

/** A ledger that the test closes, and the client that all tests use. */
export interface Desk {
  readonly ledger: TestLedger
  readonly client: rpc.Server
  /** A new account with this much. */
  person(stroops?: bigint): Keypair
  /** A signed transaction of `source`. */
  build(source: Keypair, operations: readonly xdr.Operation[], wish?: Wish): Transaction
  /** A signed fee bump; `fee` is the whole fee in stroops, as it stands on the wire. */
  bump(payer: Keypair, inner: Transaction, fee: bigint): FeeBumpTransaction
  send(transaction: Transaction | FeeBumpTransaction): Promise<rpc.Api.SendTransactionResponse>
  /** Looks a transaction up in the ledgers. */
  look(transaction: Transaction | FeeBumpTransaction): Promise<rpc.Api.GetTransactionResponse>
  /** Sends it, closes a ledger, and gives the result: the code, and that of each operation. */
  apply(transaction: Transaction | FeeBumpTransaction): Promise<string[]>
  /** Returns the answer of the node to a transaction of these operations, by default without effect: its status and the codes. */
  refusal(source: Keypair, wish: Wish, operations?: readonly xdr.Operation[]): Promise<string[]>
}

/** An operation that changes nothing. */
export const NOTHING = Operation.bumpSequence({ bumpTo: '0' })

/** Opens a desk; its ledger stops with it. */
export async function openDesk(options: LedgerOptions = {}): Promise<Desk> {
  const ledger = await startLedger({ closeEveryMs: 'manual', ...options })
  const client = new rpc.Server(ledger.url, { allowHttp: true })
  const send: Desk['send'] = (transaction) => client.sendTransaction(transaction)
  const look: Desk['look'] = (transaction) => client.getTransaction(hashOf(transaction))
  return {
    ledger,
    client,
    send,
    look,
    person(stroops = 1000n * XLM) {
      const keys = Keypair.random()
      ledger.fund(keys.publicKey(), stroops)
      return keys
    },
    build: (source, operations, wish = {}) => build(ledger, source, operations, wish),
    bump(payer, inner, fee) {
      const wrapped = wrap(payer, inner, fee, ledger.passphrase)
      wrapped.sign(payer)
      return wrapped
    },
    async apply(transaction) {
      const sent = await send(transaction)
      if (sent.status !== 'PENDING') return [sent.status, ...codesOf(sent.errorResult)]
      ledger.close()
      const found = await look(transaction)
      return found.status === 'NOT_FOUND' ? [found.status] : codesOf(found.resultXdr)
    },
    async refusal(source, wish, operations = [NOTHING]) {
      const sent = await send(build(ledger, source, operations, wish))
      return [sent.status, ...codesOf(sent.errorResult)]
    },
  }
}

/** The hash, as the world writes it. */
export function hashOf(transaction: Transaction | FeeBumpTransaction): string {
  return Buffer.from(transaction.hash()).toString('hex')
}

/** The names of a result's code, of the inner one's, and of each operation's. */
export function codesOf(result: xdr.TransactionResult | undefined): string[] {
  if (!result) return []
  const outer = result.result
  if (outer.type === 'txFeeBumpInnerSuccess' || outer.type === 'txFeeBumpInnerFailed') {
    return [outer.type, ...innerCodes(outer.innerResultPair.result.result)]
  }
  return innerCodes(outer)
}

function innerCodes(result: xdr.TransactionResultResult | xdr.InnerTransactionResultResult): string[] {
  if (result.type !== 'txSuccess' && result.type !== 'txFailed') return [result.type]
  const operations = result.results.map((operation) =>
    operation.type === 'opInner' ? operation.tr.value.type : operation.type,
  )
  return [result.type, ...operations]
}

function build(
  ledger: TestLedger,
  source: Keypair,
  operations: readonly xdr.Operation[],
  wish: Wish,
): Transaction {
  const address = source.publicKey()
  const sequence = wish.sequence ?? (ledger.account(address)?.sequence ?? 0n) + 1n
  const account = {
    accountId: () => address,
    sequenceNumber: () => String(sequence - 1n),
    incrementSequenceNumber() {},
  }
  const builder = new TransactionBuilder(account, {
    fee: wish.fee ?? '100',
    networkPassphrase: ledger.passphrase,
    timebounds: { minTime: 0, maxTime: String(wish.maxTime ?? 0n) },
  })
  for (const operation of operations) builder.addOperation(operation)
  const transaction = (wish.change?.(builder) ?? builder).build()
  transaction.sign(...(wish.signers ?? [source]))
  return transaction
}

/** By hand: the SDK takes a fee for each operation and refuses to offer too little, which the ledger must see, too. */
function wrap(payer: Keypair, inner: Transaction, fee: bigint, passphrase: string): FeeBumpTransaction {
  const envelope = inner.toEnvelope()
  if (envelope.type !== 'envelopeTypeTx')
    throw new Error('Only what is written in the new form can be wrapped.')
  const tx = new xdr.FeeBumpTransaction({
    feeSource: payer.xdrMuxedAccount(),
    fee,
    innerTx: xdr.FeeBumpTransactionInnerTx.envelopeTypeTx(envelope.v1),
    ext: xdr.FeeBumpTransactionExt.v0(),
  })
  const wrapped = new xdr.FeeBumpTransactionEnvelope({ tx, signatures: [] })
  return new FeeBumpTransaction(xdr.TransactionEnvelope.envelopeTypeTxFeeBump(wrapped), passphrase)
}
