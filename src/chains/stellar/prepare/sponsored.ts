import { Preconditions, Transaction, TransactionExt } from '@stellar/stellar-sdk/xdr'
import { larger, smaller } from '../../../lib/bigint.ts'
import type { Answer, Refusal } from '../../answer.ts'
import type { SponsoredBuild, SponsoredContent, Sponsoring, SponsoringPlan } from '../../capabilities.ts'
import { NATIVE } from '../../effects.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import { type FeePayment, isPaidByUsers } from '../../sponsoring.ts'
import { checkOperations } from '../check/request.ts'
import type { StellarPolicies, StellarRequest, UnixSeconds } from '../content.ts'
import { encodeMemo, encodeOperation } from '../encode.ts'
import {
  closeEnvelope,
  hashTransaction,
  maxTimeOf,
  readEnvelope,
  withFields,
  withMaxTime,
} from '../model/envelope.ts'
import { isAccountId, isContractAddress, toMuxedAccount, underlying } from '../model/strkey.ts'
import { type FundsReader, readAccounts } from '../read/accounts.ts'
import { readOraclePrice } from '../read/oracle.ts'
import {
  assetOf,
  CLASSIC_DECIMALS,
  MAX_INT64,
  readHoldings,
  readTokenContract,
  tokenProblem,
} from '../read/tokens.ts'
import type { StellarAccount } from '../types.ts'
import { feeCap } from './fees.ts'
import {
  callIn,
  planCall,
  type SponsoringContext,
  VALID_SECONDS,
  withAuthorization,
  withoutAuthorization,
} from './forwarder.ts'
import { isSorobanTransaction } from './simulate.ts'

/**
 * An amount of a contract has at most this many digits. With many more, a power of ten would take all memory.
 */
const MAX_DECIMALS = 38n

/** Creates the payments in tokens: a payment in the same transaction, or through the forwarder contract. */
export function createSponsoring(context: SponsoringContext): Sponsoring<StellarRequest, StellarPolicies> {
  const { client, passphrase, funds } = context
  return {
    decimals: CLASSIC_DECIMALS,
    tokenProblem,
    plan: (content, token, account) => plan(context, content, { token, account }),
    tokenDecimals: async (token) => {
      if (!isContractAddress(token)) return { kind: 'ok', value: CLASSIC_DECIMALS }
      const answer = await readTokenContract(client, { contract: token, name: 'decimals' })
      if (answer.kind !== 'ok') return answer
      return answer.value <= MAX_DECIMALS
        ? { kind: 'ok', value: Number(answer.value) }
        : { kind: 'unknown', detail: `contract ${token} has ${answer.value} decimals` }
    },
    tokenBalance: async (token, address) => {
      if (token === NATIVE) return readLumens(funds, address)
      if (isContractAddress(token))
        return readTokenContract(client, { contract: token, name: 'balance', args: [{ address }] })
      const answer = await readHoldings(client, token, [address])
      return answer.kind === 'ok' ? { kind: 'ok', value: answer.value[0]?.spendable ?? 0n } : answer
    },
    oraclePrice: (source) => readOraclePrice(client, source),
    hashOf: ({ transactionXdr, feeBump, signedAuthEntry }) => {
      // One of the two says how the user has signed.
      if (transactionXdr === undefined || (feeBump === true) === (signedAuthEntry !== undefined))
        return undefined
      const read = readEnvelope(transactionXdr)
      if (read?.kind !== 'transaction') return undefined
      const { tx } = read.envelope
      return hashOf(feeBump === true ? tx : withoutAuthorization(tx), passphrase)
    },
    withPayment: (request, payment) => withPayment(request, payment),
  }
}

function hashOf(tx: Transaction, passphrase: string): string {
  return hashTransaction(tx, passphrase).toString('hex')
}

/** The relayer never bids more than what was paid for. */
function withPayment(request: StellarRequest, payment: FeePayment): Answer<StellarRequest> {
  const { signedAuthEntry, transactionXdr = '', maxFee = payment.fee, ...others } = request
  const paid = { ...others, maxFee: smaller(maxFee, payment.fee), payment }
  if (signedAuthEntry === undefined) return { kind: 'ok', value: { ...paid, transactionXdr } }
  const authorized = withAuthorization(transactionXdr, signedAuthEntry, payment.payer)
  return authorized.kind === 'ok'
    ? { kind: 'ok', value: { ...paid, transactionXdr: authorized.value } }
    : authorized
}

interface Wanted {
  readonly token: string
  readonly account: StellarAccount
}

async function plan(
  context: SponsoringContext,
  content: SponsoredContent,
  { token, account }: Wanted,
): Promise<Answer<SponsoringPlan>> {
  if (content.type !== 'stellar') throw new Error('this is content of another chain')
  const read = readContent(content, account.address)
  if (typeof read === 'string') return invalid(read)
  const payer = underlying(read.sourceAccount)
  if (payer === account.address)
    return invalid(`${fieldOf(content)}: an account other than the relayer's is expected.`)
  const isCall = isSorobanTransaction(read)
  if (isCall !== isContractAddress(token))
    return invalid(
      isCall
        ? 'fee_token: the contract of a token is expected with a smart contract call (C…).'
        : 'fee_token: "native" or CODE:ISSUER is expected; tokens of contracts pay for smart contract calls.',
    )
  const market = await context.market()
  if (market.kind !== 'ok') return market
  const { closeTime } = market.value
  const own: bigint = maxTimeOf(read) ?? MAX_INT64
  const until = larger(1n, smaller(own, closeTime + VALID_SECONDS)) as UnixSeconds
  if (until <= closeTime) return invalid(`${fieldOf(content)}: its time bounds have passed.`)
  const plan = isCall
    ? await planCall(context, callIn(read), { token, account, payer, until, bid: market.value.soroban })
    : planClassic(context, read, { token, account, payer, until, bid: market.value.classic })
  if (plan.kind !== 'ok') return plan
  const { fee } = plan.value
  const cap = feeCap(account.policies)
  if (fee <= cap) return plan
  const detail = `The fee of the transaction is up to ${fee} stroops, and max_fee of the relayer is ${cap}.`
  return { kind: 'refused', refusal: { code: 'fee_above_cap', detail } }
}

type StellarContent = Extract<SponsoredContent, { type: 'stellar' }>

function fieldOf({ transactionXdr }: StellarContent): string {
  return transactionXdr === undefined ? 'source_account' : 'transaction_xdr'
}

/** `Operation operations<100>` of XDR; one is the payment. */
const MAX_OPERATIONS = 99

/**
 * Reads the transaction of the user; a sentence for content that cannot be sponsored. Sequence number 0: the
 * next one of the user.
 */
function readContent(
  { transactionXdr, operations, sourceAccount }: StellarContent,
  self: string,
): Transaction | string {
  if (transactionXdr !== undefined && operations !== undefined)
    return 'operations, transaction_xdr: exactly one of the two is expected, not both.'
  if (transactionXdr === undefined && operations === undefined)
    return 'operations, transaction_xdr: one of the two is expected.'
  if (operations === undefined) return readTransaction(transactionXdr ?? '', self)
  if (sourceAccount === undefined)
    return 'source_account: the account of the user is expected with operations.'
  if (!isAccountId(sourceAccount))
    return 'source_account: the address of a Stellar account is expected (G…); its checksum is wrong.'
  const problem = checkOperations(operations, sourceAccount)
  if (problem !== undefined) return problem
  if (operations.length > MAX_OPERATIONS)
    return `operations: at most ${MAX_OPERATIONS} are expected, so that the payment fits.`
  return new Transaction({
    sourceAccount: toMuxedAccount(sourceAccount),
    fee: 0,
    seqNum: 0n,
    cond: Preconditions.precondNone(),
    memo: encodeMemo(undefined),
    operations: operations.map((operation) => encodeOperation(operation)),
    ext: TransactionExt.v0(),
  })
}

function readTransaction(xdr: string, self: string): Transaction | string {
  const read = readEnvelope(xdr)
  if (read?.kind !== 'transaction')
    return 'transaction_xdr: a TransactionEnvelope is expected, XDR in base64.'
  const { tx } = read.envelope
  const { length } = tx.operations
  if (length < 1 || length > MAX_OPERATIONS)
    return `transaction_xdr: 1 to ${MAX_OPERATIONS} operations are expected, so that the payment fits.`
  const own = tx.operations.findIndex(
    ({ sourceAccount }) => sourceAccount !== null && underlying(sourceAccount) === self,
  )
  if (own >= 0)
    return `transaction_xdr: operations[${own}] has the relayer as its source; the relayer only pays the fee.`
  if (length > 1 && isSorobanTransaction(tx))
    return 'transaction_xdr: a smart contract operation must be the only one.'
  if (isSorobanTransaction(tx) && callIn(tx) === undefined)
    return 'transaction_xdr: of the smart contract operations, only calls can be sponsored.'
  return tx
}

interface Planned extends Wanted {
  readonly payer: string
  /** The last second in which a ledger may include it. */
  readonly until: UnixSeconds
  /** In stroops for each operation. */
  readonly bid: bigint
}

function planClassic(context: SponsoringContext, tx: Transaction, planned: Planned): Answer<SponsoringPlan> {
  const paid = isPaidByUsers(planned.account.policies) ? 1 : 0
  // A fee bump counts as one more operation (CAP-15).
  const fee = planned.bid * BigInt(tx.operations.length + paid + 1)
  return {
    kind: 'ok',
    value: {
      payer: planned.payer,
      fee,
      hasMost: false,
      build: (charge) => buildClassic(context, tx, { ...planned, amount: charge?.amount }),
    },
  }
}

/**
 * The inner transaction bids nothing, so it cannot be included without the relayer's fee bump, which pays.
 */
async function buildClassic(
  context: SponsoringContext,
  tx: Transaction,
  { token, account, payer, until, amount }: Planned & { readonly amount: bigint | undefined },
): Promise<Answer<SponsoredBuild>> {
  const { client, passphrase, memos } = context
  const [entry] = await readAccounts(client, [payer])
  if (entry?.kind !== 'ok') return entry ?? { kind: 'unknown', detail: 'no reply' }
  if (entry.value === undefined)
    return refuse('account_not_found', `The account ${payer} does not exist on the ledger.`)
  const { address: receiver } = account
  if (amount !== undefined) {
    const refusal = await refusePayer(context, { token, payer, receiver, amount })
    if (refusal.kind !== 'ok') return refusal
  }
  const payment =
    amount === undefined
      ? []
      : [encodeOperation({ type: 'payment', destination: receiver, asset: assetOf(token), amount })]
  const built = withFields(tx, {
    fee: 0,
    seqNum: tx.seqNum > entry.value.seqNum ? tx.seqNum : entry.value.seqNum + 1n,
    cond: withMaxTime(tx.cond, until),
    operations: [...tx.operations, ...payment],
  })
  const memo = await memos.receiverWithout(built)
  if (memo.kind !== 'ok') return memo
  if (memo.value !== undefined)
    return invalid(
      `A memo is expected, because ${memo.value} accepts payments only with one (config.memo_required, SEP-29).`,
    )
  return {
    kind: 'ok',
    value: {
      transaction: closeEnvelope(built),
      hash: hashOf(built, passphrase),
      receiver,
      validUntil: new Date(Number(until) * 1_000),
    },
  }
}

async function readLumens(funds: FundsReader, address: string): Promise<Answer<bigint>> {
  const answer = await funds.readFunds(address)
  return answer.kind === 'ok' ? { kind: 'ok', value: answer.value.spendable } : answer
}

/**
 * Refuses a payment that the ledger would not execute now. What the user's own operations move before it is
 * not known here, so it may still fail; then the ledger charges the fee and executes nothing.
 */
export async function refusePayer(
  { client, funds }: { readonly client: PooledClient; readonly funds: FundsReader },
  { token, payer, receiver, amount }: Pick<FeePayment, 'token' | 'payer' | 'receiver' | 'amount'>,
): Promise<Answer<undefined>> {
  if (amount > MAX_INT64) return invalid('fee_token: the fee is more than an asset can have.')
  if (token === NATIVE) {
    const balance = await readLumens(funds, payer)
    if (balance.kind !== 'ok') return balance
    return balance.value >= amount ? NOTHING : short(payer, token, amount, balance.value)
  }
  const holdings = await readHoldings(client, token, [payer, receiver])
  if (holdings.kind !== 'ok') return holdings
  const [own, theirs] = holdings.value
  if (theirs === undefined)
    return refuse(
      'account_not_found',
      `fee_token: the relayer has no trust line for ${token}; add one with change_trust.`,
    )
  if (theirs.receivable < amount)
    return refuse(
      'policy_violation',
      `fee_token: the trust line of the relayer has room for ${theirs.receivable} base units of ${token}.`,
    )
  return own !== undefined && own.spendable >= amount
    ? NOTHING
    : short(payer, token, amount, own?.spendable ?? 0n)
}

const NOTHING: Answer<undefined> = { kind: 'ok', value: undefined }

function short(payer: string, token: string, amount: bigint, spendable: bigint): Answer<never> {
  return refuse(
    'insufficient_balance',
    `fee_token: the fee is ${amount} base units of ${token}, and ${payer} can spend ${spendable}.`,
  )
}

function invalid(detail: string): Answer<never> {
  return refuse('invalid_request', detail)
}

function refuse(code: Refusal['code'], detail: string): Answer<never> {
  return { kind: 'refused', refusal: { code, detail } }
}
