import { readSignerKey } from '../encode.ts'
import type {
  ChangeTrustOperation,
  ClaimPredicate,
  CreateClaimableBalanceOperation,
  ManageDataOperation,
  SetOptionsOperation,
  SorobanOperation,
  StellarAsset,
  StellarOperation,
} from '../model/operation.ts'
import { baseAccountId } from '../model/strkey.ts'
import {
  accountAddress,
  accountId,
  asset,
  firstOf,
  notNegative,
  type Problem,
  plainText,
  positive,
} from './fields.ts'

type ClassicOperation = Exclude<StellarOperation, SorobanOperation>

/**
 * Applies the rules that do not depend on the ledger: `doCheckValid` in stellar-core's
 * `src/transactions/*OpFrame.cpp`. `self` is the source account of the operation.
 */
export function checkClassic(operation: ClassicOperation, at: string, self: string): Problem {
  // The table maps each type to the check of that type, which the compiler cannot follow through an index.
  const check = CHECKS[operation.type] as Check<ClassicOperation>
  return check(operation, at, self)
}

type Check<T> = (operation: T, at: string, self: string) => Problem

type Checks = { readonly [T in ClassicOperation['type']]: Check<Extract<ClassicOperation, { type: T }>> }

const CHECKS: Checks = {
  payment: (operation, at) =>
    accountAddress(operation.destination, `${at}.destination`) ??
    asset(operation.asset, `${at}.asset`) ??
    positive(operation.amount, `${at}.amount`),
  create_account: (operation, at, self) =>
    accountId(operation.destination, `${at}.destination`) ??
    notOneself(operation.destination, `${at}.destination`, self) ??
    positive(operation.starting_balance, `${at}.starting_balance`),
  change_trust: checkTrust,
  path_payment_strict_send: (operation, at) =>
    checkPath(operation, at) ??
    positive(operation.send_amount, `${at}.send_amount`) ??
    positive(operation.dest_min, `${at}.dest_min`),
  path_payment_strict_receive: (operation, at) =>
    checkPath(operation, at) ??
    positive(operation.send_max, `${at}.send_max`) ??
    positive(operation.dest_amount, `${at}.dest_amount`),
  manage_data: checkData,
  set_options: checkOptions,
  account_merge: (operation, at, self) =>
    accountAddress(operation.destination, `${at}.destination`) ??
    notOneself(operation.destination, `${at}.destination`, self),
  create_claimable_balance: checkClaimable,
  // `CLAIMABLE_BALANCE_ID_TYPE_V0` is the only type.
  claim_claimable_balance: (operation, at) =>
    /^0{8}[0-9a-fA-F]{64}$/.test(operation.balance_id)
      ? undefined
      : `${at}.balance_id: 8 zeros and 64 hexadecimal digits are expected.`,
  bump_sequence: (operation, at) =>
    notNegative(operation.bump_to, `${at}.bump_to`) ?? checkBump(operation.bump_to, `${at}.bump_to`),
}

/**
 * The largest number that an account is raised to. There is no number after 2^63 - 1, so the account could
 * never send anything again, nor be merged (`BumpSequenceOpFrame`, `MergeOpFrame`:
 * ACCOUNT_MERGE_SEQNUM_TOO_FAR). This leaves it 2^32 transactions.
 */
const MAX_BUMP = 2n ** 63n - 1n - 2n ** 32n

/** Refuses a number that would end the account. */
export function checkBump(bumpTo: bigint, at: string): Problem {
  return bumpTo <= MAX_BUMP
    ? undefined
    : `${at}: at most ${MAX_BUMP} is expected; after the largest number the account could never send anything again.`
}

function notOneself(address: string, at: string, self: string): Problem {
  return baseAccountId(address) === self
    ? `${at}: an account other than the relayer's own is expected.`
    : undefined
}

function checkTrust({ asset: trusted, limit }: ChangeTrustOperation, at: string, self: string): Problem {
  if (trusted.type === 'native')
    return `${at}.asset: an asset with an issuer is expected; lumens need no trust line.`
  return (
    asset(trusted, `${at}.asset`) ??
    (trusted.issuer === self ? `${at}.asset.issuer: an account needs no trust line to itself.` : undefined) ??
    (limit === undefined ? undefined : notNegative(limit, `${at}.limit`))
  )
}

interface Path {
  readonly destination: string
  readonly send_asset: StellarAsset
  readonly dest_asset: StellarAsset
  readonly path?: readonly StellarAsset[]
}

/** `Asset path<5>` of XDR. */
const MAX_PATH = 5

function checkPath({ destination, send_asset, dest_asset, path = [] }: Path, at: string): Problem {
  if (path.length > MAX_PATH) return `${at}.path: at most ${MAX_PATH} assets are expected.`
  return (
    accountAddress(destination, `${at}.destination`) ??
    asset(send_asset, `${at}.send_asset`) ??
    asset(dest_asset, `${at}.dest_asset`) ??
    firstOf(path, `${at}.path`, asset)
  )
}

/** `string64` and `DataValue` of XDR, in bytes. */
const MAX_DATA = 64

function checkData({ name, value }: ManageDataOperation, at: string): Problem {
  if (name === '') return `${at}.name: at least one character is expected.`
  const bytes = value === null ? 0 : Buffer.from(value, 'base64').length
  return (
    plainText(name, `${at}.name`, MAX_DATA) ??
    (bytes <= MAX_DATA
      ? undefined
      : `${at}.value: at most ${MAX_DATA} bytes are expected, ${bytes} were given.`)
  )
}

/** `Claimant claimants<10>` of XDR. */
const MAX_CLAIMANTS = 10

/** Checks a `create_claimable_balance` (stellar-core `CreateClaimableBalanceOpFrame::doCheckValid`). */
function checkClaimable(
  { asset: kind, amount, claimants }: CreateClaimableBalanceOperation,
  at: string,
): Problem {
  if (claimants.length < 1 || claimants.length > MAX_CLAIMANTS) {
    return `${at}.claimants: 1 to ${MAX_CLAIMANTS} claimants are expected.`
  }
  const twice = claimants.findIndex(({ destination }, index) =>
    claimants.slice(0, index).some((earlier) => earlier.destination === destination),
  )
  if (twice >= 0) return `${at}.claimants[${twice}].destination: each claimant is expected once.`
  return (
    asset(kind, `${at}.asset`) ??
    positive(amount, `${at}.amount`) ??
    firstOf(
      claimants,
      `${at}.claimants`,
      ({ destination, predicate }, path) =>
        accountId(destination, `${path}.destination`) ??
        (predicate === undefined ? undefined : checkPredicate(predicate, `${path}.predicate`, 1)),
    )
  )
}

/** stellar-core `validatePredicate` allows 4 levels. */
const MAX_PREDICATE_DEPTH = 4

function checkPredicate(predicate: ClaimPredicate, at: string, depth: number): Problem {
  if (depth > MAX_PREDICATE_DEPTH) return `${at}: predicates may be nested ${MAX_PREDICATE_DEPTH} deep.`
  const { before_absolute_time: absolute, before_relative_time: relative, not, and, or } = predicate
  if (absolute !== undefined) return notNegative(absolute, `${at}.before_absolute_time`)
  if (relative !== undefined) return notNegative(relative, `${at}.before_relative_time`)
  if (not !== undefined) return checkPredicate(not, `${at}.not`, depth + 1)
  const [operator, both] = and === undefined ? ['or', or] : ['and', and]
  if (both === undefined) return undefined
  if (both.length !== 2) return `${at}.${operator}: exactly two predicates are expected.`
  return firstOf(both, `${at}.${operator}`, (inner, path) => checkPredicate(inner, path, depth + 1))
}

/** `string32` of XDR. */
const MAX_HOME_DOMAIN = 32

/** The four bits of `AccountFlags`. */
const ALL_FLAGS = 0xf

/** Checks a `set_options` (stellar-core `SetOptionsOpFrame::doCheckValid`). */
function checkOptions(operation: SetOptionsOperation, at: string, self: string): Problem {
  const { set_flags = 0, clear_flags = 0, inflation_destination, home_domain, signer } = operation
  if (set_flags > ALL_FLAGS || clear_flags > ALL_FLAGS)
    return `${at}: flags from 0 to ${ALL_FLAGS} are expected.`
  if ((set_flags & clear_flags) !== 0) return `${at}.clear_flags: a flag cannot be both set and cleared.`
  return (
    (inflation_destination === undefined
      ? undefined
      : accountId(inflation_destination, `${at}.inflation_destination`)) ??
    (home_domain === undefined ? undefined : plainText(home_domain, `${at}.home_domain`, MAX_HOME_DOMAIN)) ??
    (signer === undefined ? undefined : checkSigner(signer, `${at}.signer`, self))
  )
}

function checkSigner({ key }: { readonly key: string }, at: string, self: string): Problem {
  if (readSignerKey(key) === undefined)
    return `${at}.key: a signer's key is expected (G…, T…, X… or P…); its checksum is wrong.`
  return key === self ? `${at}.key: the weight of the account's own key is master_weight.` : undefined
}
