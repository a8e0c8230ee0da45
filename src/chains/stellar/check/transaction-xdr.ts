import type { Transaction, TransactionV1Envelope } from '@stellar/stellar-sdk/xdr'
import type { StellarRequest } from '../content.ts'
import { hashTransaction, maxLedgerOf, maxTimeOf, readEnvelope } from '../model/envelope.ts'
import { publicKeyOf, underlying } from '../model/strkey.ts'
import { claimsToBeBy, isBy } from '../sign.ts'
import { checkBump } from './classic.ts'
import { firstOf, type Problem } from './fields.ts'

const AT = 'transaction_xdr'

/** The context for the check of a prebuilt transaction. */
export interface XdrRules {
  /** `G…` of the relayer. */
  readonly self: string
  readonly passphrase: string
}

/** Checks a request that contains a prebuilt transaction. */
export function checkTransactionXdr(request: StellarRequest, xdr: string, rules: XdrRules): Problem {
  if (request.memo !== undefined && request.memo.type !== 'none') {
    return `memo: a prebuilt transaction has its own; put it into ${AT}.`
  }
  const read = readEnvelope(xdr)
  if (read === undefined) return `${AT}: a TransactionEnvelope is expected, XDR in base64.`
  if (read.kind === 'fee_bump') return `${AT}: a transaction is expected; this is already a fee bump.`
  const { envelope } = read
  return request.feeBump === true
    ? checkSigned(request, envelope, rules)
    : checkUnsigned(request, envelope, rules)
}

/**
 * The relayer signs it with a new sequence number, so no other signature is needed, and earlier ones are
 * worthless.
 */
function checkUnsigned(
  { payment }: StellarRequest,
  { tx, signatures }: TransactionV1Envelope,
  { self }: XdrRules,
): Problem {
  if (signatures.length > 0) {
    return `${AT}: an unsigned transaction is expected, this one has ${signatures.length} signatures; with fee_bump it is wrapped unchanged.`
  }
  const source = underlying(tx.sourceAccount)
  if (source !== self)
    return `${AT}: the relayer's own account ${self} is expected as its source, not ${source}.`
  if (tx.cond.type === 'precondV2' && tx.cond.v2.extraSigners.length > 0) {
    return `${AT}: no extra signers are expected; the service signs only for the relayer's own account.`
  }
  return checkPreconditions(tx, payment !== undefined) ?? checkInvoker(tx) ?? checkOperations(tx, self)
}

/**
 * The service assigns the sequence number and signs expired content again, so a bound that can never hold
 * again would be tried for ever. The other bounds hold sooner or later (CAP-21). Where a user pays, the
 * service has set the bound itself, and refuses what is past it.
 */
function checkPreconditions(tx: Transaction, isPaid: boolean): Problem {
  if (maxLedgerOf(tx) !== undefined && !isPaid)
    return `${AT}: cond.ledgerBounds.maxLedger is expected to be 0; use timeBounds.maxTime or valid_until.`
  return tx.cond.type === 'precondV2' && tx.cond.v2.minSeqNum !== null
    ? `${AT}: cond.minSeqNum is expected to be absent; the service assigns the sequence number.`
    : undefined
}

/**
 * A call of a contract has no memo and no muxed sources, no matter who pays (stellar-core
 * `TransactionFrame::validateSorobanMemo`).
 */
function checkInvoker({ sourceAccount, operations, memo }: Transaction): Problem {
  const [operation] = operations
  if (operation?.body.type !== 'invokeHostFunction') return undefined
  if (memo.type !== 'memoNone') return `${AT}: a smart contract operation must have no memo.`
  const muxed = [sourceAccount, operation.sourceAccount].some(
    (source) => source?.type === 'keyTypeMuxedEd25519',
  )
  return muxed
    ? `${AT}: a source without a muxed id is expected (G…, not M…), of the transaction and of operations[0].`
    : undefined
}

/** The transaction of such an operation contains no other one (CAP-46-07). */
const SOROBAN: ReadonlySet<string> = new Set(['invokeHostFunction', 'extendFootprintTtl', 'restoreFootprint'])

function checkOperations({ operations, memo }: Transaction, self: string): Problem {
  if (operations.length === 0) return `${AT}: at least one operation is expected.`
  const soroban = operations.some(({ body }) => SOROBAN.has(body.type))
  if (soroban && operations.length > 1) return `${AT}: a smart contract operation must be the only one.`
  if (soroban && memo.type !== 'memoNone') return `${AT}: a smart contract operation must have no memo.`
  return firstOf(operations, `${AT}: operations`, ({ sourceAccount, body }, path) => {
    if (sourceAccount !== null && underlying(sourceAccount) !== self)
      return `${path} has the source ${underlying(sourceAccount)}; the service signs only for the relayer's own account.`
    return body.type === 'bumpSequence' ? checkBump(body.bumpSequenceOp.bumpTo, `${path}.bump_to`) : undefined
  })
}

/**
 * The ledger knows the other signers of the account, so a signature without the hint of the source's own key
 * may be valid. A signature with that hint that does not match the key is certainly wrong: it was made for
 * another network, or the transaction changed afterwards.
 */
function checkSigned(
  { validUntil }: StellarRequest,
  { tx, signatures }: TransactionV1Envelope,
  { passphrase }: XdrRules,
): Problem {
  if (signatures.length === 0)
    return 'fee_bump: a signed transaction_xdr is expected; this one has no signature.'
  if (tx.operations.length === 0) return `${AT}: at least one operation is expected.`
  const refused = checkInvoker(tx)
  if (refused !== undefined) return refused
  const key = publicKeyOf(underlying(tx.sourceAccount))
  const hash = hashTransaction(tx, passphrase)
  const wrong = signatures.findIndex((one) => claimsToBeBy(one, key) && !isBy(one, key, hash))
  if (wrong >= 0) {
    return `${AT}: signatures[${wrong}] is not by ${underlying(tx.sourceAccount)} for this transaction on this network.`
  }
  return checkValidUntil(tx, validUntil)
}

function checkValidUntil(tx: Transaction, validUntil: Date | undefined): Problem {
  if (validUntil === undefined) return undefined
  const maxTime = maxTimeOf(tx)
  return maxTime !== undefined && Number(maxTime) * 1_000 <= validUntil.getTime()
    ? undefined
    : 'valid_until: a signed transaction keeps its time bounds, and these end later.'
}
