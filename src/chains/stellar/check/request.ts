import type { Refusal } from '../../answer.ts'
import { isPaidByUsers, PAYMENT_REQUIRED } from '../../sponsoring.ts'
import type { StellarRequest } from '../content.ts'
import { isSoroban, type StellarMemo, type StellarOperation } from '../model/operation.ts'
import { baseAccountId, isAccountId } from '../model/strkey.ts'
import { feeCap } from '../prepare/fees.ts'
import type { StellarAccount } from '../types.ts'
import { checkClassic } from './classic.ts'
import { accountAddress, firstOf, type Problem } from './fields.ts'
import { checkSoroban, unsupportedAuth } from './soroban.ts'
import { checkTransactionXdr } from './transaction-xdr.ts'

/** `Operation operations<100>` of XDR (`MAX_OPS_PER_TX`). */
const MAX_OPERATIONS = 100

/** The names of a network. */
interface NetworkIdentity {
  readonly name: string
  readonly passphrase: string
}

/** The names of public networks in other products and standards, by their passphrases. */
const PUBLIC_NAMES: Readonly<Record<string, readonly string[]>> = {
  'Public Global Stellar Network ; September 2015': ['pubnet', 'public', 'mainnet'],
  'Test SDF Network ; September 2015': ['testnet'],
  'Test SDF Future Network ; October 2022': ['futurenet'],
}

/**
 * Every spelling of a network: its name here, its public names, either of them by CAIP-2, and its passphrase.
 */
function namesOf({ name, passphrase }: NetworkIdentity): ReadonlySet<string> {
  const names = [name, ...(PUBLIC_NAMES[passphrase] ?? [])]
  return new Set([...names, ...names.map((each) => `stellar:${each}`), passphrase])
}

/** Applies the rules that need no network, and reports the first problem. */
export function checkRequest(
  request: StellarRequest,
  account: StellarAccount,
  network: NetworkIdentity,
): Refusal | undefined {
  const problem = checkFrame(request, account, network) ?? checkContent(request, account, network)
  if (problem !== undefined) return { code: 'invalid_request', detail: problem }
  return checkSupport(request) ?? checkPayment(request, account) ?? checkCap(request, account)
}

/**
 * An authorization belongs to a call that the service has built, and becomes a part of it with the payment.
 */
function checkPayment(
  { feeBump, signedAuthEntry, payment }: StellarRequest,
  { policies }: StellarAccount,
): Refusal | undefined {
  const mustPay = signedAuthEntry !== undefined || (feeBump === true && isPaidByUsers(policies))
  return mustPay && payment === undefined
    ? { code: 'payment_required', detail: `transaction_xdr: ${PAYMENT_REQUIRED}` }
    : undefined
}

function checkSupport({ operations = [] }: StellarRequest): Refusal | undefined {
  const detail = firstOf(operations, 'operations', (operation, at) =>
    isSoroban(operation) ? unsupportedAuth(operation, at) : undefined,
  )
  return detail === undefined ? undefined : { code: 'not_supported', detail }
}

function checkFrame(
  request: StellarRequest,
  { address }: StellarAccount,
  identity: NetworkIdentity,
): Problem {
  const { network, operations, transactionXdr, feeBump, maxFee, sourceAccount, signedAuthEntry } = request
  if (!namesOf(identity).has(network))
    return `network: ${identity.name} is expected, the network of the relayer.`
  if (operations !== undefined && transactionXdr !== undefined) {
    return 'operations, transaction_xdr: exactly one of the two is expected, not both.'
  }
  if (operations === undefined && transactionXdr === undefined) {
    return 'operations, transaction_xdr: one of the two is expected.'
  }
  if (feeBump === true && transactionXdr === undefined) {
    return 'fee_bump: expected only with a signed transaction_xdr; operations are paid by the relayer anyway.'
  }
  if (signedAuthEntry !== undefined && transactionXdr === undefined)
    return 'signed_auth_entry: expected only with a transaction_xdr.'
  if (signedAuthEntry !== undefined && feeBump === true)
    return 'signed_auth_entry, fee_bump: at most one of the two is expected.'
  if (maxFee !== undefined && maxFee <= 0n) return 'max_fee: at least 1 stroop is expected.'
  return sourceAccount === undefined ? undefined : checkSource(sourceAccount, address)
}

/**
 * The sequence number and the signature are the relayer's, so only its account can be the source, perhaps
 * with a muxed number.
 */
function checkSource(source: string, self: string): Problem {
  return (
    accountAddress(source, 'source_account') ??
    (baseAccountId(source) === self
      ? undefined
      : `source_account: the relayer's own account ${self} is expected; the service signs only for that one.`)
  )
}

function checkContent(
  request: StellarRequest,
  { address: self }: StellarAccount,
  network: NetworkIdentity,
): Problem {
  const { transactionXdr, operations = [], memo } = request
  if (transactionXdr !== undefined) {
    return checkTransactionXdr(request, transactionXdr, { self, passphrase: network.passphrase })
  }
  return (
    (memo === undefined ? undefined : checkMemo(memo)) ??
    checkInvoker(request) ??
    checkOperations(operations, self, memo !== undefined && memo.type !== 'none')
  )
}

/** Checks the operations of a transaction whose source account is `self`. */
export function checkOperations(
  operations: readonly StellarOperation[],
  self: string,
  hasMemo = false,
): Problem {
  return (
    checkTogether(operations, hasMemo) ??
    firstOf(operations, 'operations', (operation, at) => checkOperation(operation, at, self))
  )
}

/** A transaction of smart contracts has one operation and no memo (CAP-46-07). */
function checkTogether(operations: readonly StellarOperation[], hasMemo: boolean): Problem {
  if (operations.length < 1 || operations.length > MAX_OPERATIONS) {
    return `operations: 1 to ${MAX_OPERATIONS} operations are expected, ${operations.length} were given.`
  }
  const soroban = operations.findIndex(isSoroban)
  if (soroban < 0) return undefined
  if (operations.length > 1) {
    return `operations[${soroban}]: ${operations[soroban]?.type} must be the only operation of its transaction.`
  }
  return hasMemo ? `memo: none is expected with ${operations[soroban]?.type}.` : undefined
}

/**
 * Contracts cannot see the number of a muxed source, so it is not allowed (stellar-core
 * `TransactionFrame::validateSorobanMemo`).
 */
function checkInvoker({ sourceAccount, operations = [] }: StellarRequest): Problem {
  const [operation] = operations
  if (sourceAccount === undefined || isAccountId(sourceAccount)) return undefined
  return operation !== undefined && isSoroban(operation)
    ? `source_account: an account without a muxed id is expected (G…) with ${operation.type}.`
    : undefined
}

function checkOperation(operation: StellarOperation, at: string, self: string): Problem {
  return isSoroban(operation) ? checkSoroban(operation, at) : checkClassic(operation, at, self)
}

function checkCap({ maxFee }: StellarRequest, { policies }: StellarAccount): Refusal | undefined {
  const cap = feeCap(policies)
  if (maxFee === undefined || maxFee <= cap) return undefined
  return {
    code: 'fee_above_cap',
    detail: `max_fee: ${maxFee} is above the relayer's max_fee of ${cap} stroops.`,
  }
}

/** `string text<28>` of XDR: bytes, not characters. */
const MAX_TEXT_BYTES = 28

/** The largest integer of XDR's `uint64`. */
const MAX_ID = 2n ** 64n - 1n

/** Checks a memo. */
function checkMemo(memo: StellarMemo): Problem {
  if (memo.type === 'text') {
    const bytes = Buffer.byteLength(memo.value)
    return bytes <= MAX_TEXT_BYTES
      ? undefined
      : `memo.value: at most ${MAX_TEXT_BYTES} bytes of UTF-8 are expected, ${bytes} were given.`
  }
  if (memo.type === 'id') {
    return memo.value >= 0n && memo.value <= MAX_ID
      ? undefined
      : `memo.value: a number from 0 to ${MAX_ID} is expected.`
  }
  if (memo.type === 'hash' || memo.type === 'return') return checkHash(memo.value)
  return undefined
}

function checkHash(value: readonly number[] | string): Problem {
  const fits =
    typeof value === 'string'
      ? /^[0-9a-fA-F]{64}$/.test(value)
      : value.length === 32 && value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255)
  return fits
    ? undefined
    : 'memo.value: 32 bytes are expected, as integers from 0 to 255 or as 64 hexadecimal digits.'
}
