/**
 * One operation as the contract writes it (group C, `OperationSpec`). Amounts are in stroops, or in the
 * smallest unit of the asset (10^-7). Accounts are strkeys: `G…`, or `M…` where the ledger takes a muxed
 * account.
 */
export type StellarOperation =
  | PaymentOperation
  | CreateAccountOperation
  | ChangeTrustOperation
  | PathPaymentStrictSendOperation
  | PathPaymentStrictReceiveOperation
  | ManageDataOperation
  | SetOptionsOperation
  | AccountMergeOperation
  | CreateClaimableBalanceOperation
  | ClaimClaimableBalanceOperation
  | BumpSequenceOperation
  | SorobanOperation

/**
 * Operations of smart contracts: each is alone in its transaction, is simulated, and has a resource fee
 * (CAP-46).
 */
export type SorobanOperation = HostFunctionOperation | RestoreFootprintOperation

/** Operations that run a host function, and so may need authorization. */
export type HostFunctionOperation = InvokeContractOperation | CreateContractOperation | UploadWasmOperation

interface PaymentOperation {
  readonly type: 'payment'
  readonly destination: string
  readonly asset: StellarAsset
  readonly amount: bigint
}

interface CreateAccountOperation {
  readonly type: 'create_account'
  readonly destination: string
  readonly starting_balance: bigint
}

export interface ChangeTrustOperation {
  readonly type: 'change_trust'
  readonly asset: StellarAsset
  /** Default: the largest possible limit; 0 removes the trust line. */
  readonly limit?: bigint
}

interface PathPaymentStrictSendOperation {
  readonly type: 'path_payment_strict_send'
  readonly send_asset: StellarAsset
  readonly send_amount: bigint
  readonly destination: string
  readonly dest_asset: StellarAsset
  readonly dest_min: bigint
  readonly path?: readonly StellarAsset[]
}

interface PathPaymentStrictReceiveOperation {
  readonly type: 'path_payment_strict_receive'
  readonly send_asset: StellarAsset
  readonly send_max: bigint
  readonly destination: string
  readonly dest_asset: StellarAsset
  readonly dest_amount: bigint
  readonly path?: readonly StellarAsset[]
}

export interface ManageDataOperation {
  readonly type: 'manage_data'
  readonly name: string
  /** Base64; null deletes the entry. */
  readonly value: string | null
}

export interface SetOptionsOperation {
  readonly type: 'set_options'
  readonly inflation_destination?: string
  /** Bits of `AccountFlags`. */
  readonly clear_flags?: number
  readonly set_flags?: number
  readonly master_weight?: number
  readonly low_threshold?: number
  readonly medium_threshold?: number
  readonly high_threshold?: number
  readonly home_domain?: string
  /** `G…`, `T…` (a transaction's hash), `X…` (the hash of a secret) or `P…` (a signed payload). */
  readonly signer?: { readonly key: string; readonly weight: number }
}

interface AccountMergeOperation {
  readonly type: 'account_merge'
  readonly destination: string
}

export interface CreateClaimableBalanceOperation {
  readonly type: 'create_claimable_balance'
  readonly asset: StellarAsset
  readonly amount: bigint
  readonly claimants: readonly Claimant[]
}

interface Claimant {
  readonly destination: string
  /** Default: any time. */
  readonly predicate?: ClaimPredicate
}

/** A predicate has exactly one of the fields. */
export interface ClaimPredicate {
  readonly unconditional?: true
  /** Unix time in seconds. */
  readonly before_absolute_time?: bigint
  /** Seconds after the creation of the balance. */
  readonly before_relative_time?: bigint
  readonly not?: ClaimPredicate
  /** The list has exactly two predicates. */
  readonly and?: readonly ClaimPredicate[]
  /** The list has exactly two predicates. */
  readonly or?: readonly ClaimPredicate[]
}

interface ClaimClaimableBalanceOperation {
  readonly type: 'claim_claimable_balance'
  /** `ClaimableBalanceID` as XDR in hexadecimal: 4 bytes of type, 32 of hash. */
  readonly balance_id: string
}

interface BumpSequenceOperation {
  readonly type: 'bump_sequence'
  readonly bump_to: bigint
}

export interface InvokeContractOperation {
  readonly type: 'invoke_contract'
  readonly contract_address: string
  readonly function_name: string
  /** Empty while there are `named_args`. */
  readonly args: readonly ScValue[]
  /**
   * JSON values by the names of the parameters; only in requests whose arguments are not encoded yet, and
   * never stored.
   */
  readonly named_args?: Readonly<Record<string, unknown>>
  readonly auth?: SorobanAuth
}

export interface CreateContractOperation {
  readonly type: 'create_contract'
  /** The deployer of the contract, which decides its address together with `salt`. */
  readonly source:
    | { readonly from: 'address'; readonly address: string }
    | { readonly from: 'contract'; readonly contract: string }
  /** 32 bytes in hexadecimal. */
  readonly wasm_hash: string
  /** 32 bytes in hexadecimal. Default: zeros. */
  readonly salt?: string
  readonly constructor_args?: readonly ScValue[]
  readonly auth?: SorobanAuth
}

export interface UploadWasmOperation {
  readonly type: 'upload_wasm'
  readonly wasm: { readonly hex: string } | { readonly base64: string }
  readonly auth?: SorobanAuth
}

/**
 * Restores archived entries (CAP-46-12). The service sends it as a setup transaction; the contract does not
 * offer it. The simulation that asked for it told the entries and the cost.
 */
interface RestoreFootprintOperation {
  readonly type: 'restore_footprint'
  /** `SorobanTransactionData`, XDR in base64. */
  readonly transaction_data: string
}

/**
 * The authorization of a call. `source_account`, the default: the source of the operation, where the
 * simulation needs it.
 */
export type SorobanAuth =
  | { readonly type: 'none' | 'source_account' }
  | { readonly type: 'addresses'; readonly signers: readonly string[] }
  /** `SorobanAuthorizationEntry`, XDR in base64 each, signed by the accounts that they name. */
  | { readonly type: 'xdr'; readonly entries: readonly string[] }

/** Codes of up to 4 characters are `credit4`, longer ones `credit12`; the longer type names mean the same. */
export type StellarAsset =
  | { readonly type: 'native' }
  | {
      readonly type: 'credit4' | 'credit_alphanum4' | 'credit12' | 'credit_alphanum12'
      readonly code: string
      readonly issuer: string
    }

/** A memo as the contract writes it (`MemoSpec`). */
export type StellarMemo =
  | { readonly type: 'none' }
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'id'; readonly value: bigint }
  /** 32 bytes, one by one or as 64 hexadecimal digits. */
  | { readonly type: 'hash' | 'return'; readonly value: readonly number[] | string }

/** Returns true for an operation that must be alone and be simulated. */
export function isSoroban(operation: StellarOperation): operation is SorobanOperation {
  return SOROBAN.has(operation.type)
}

const SOROBAN: ReadonlySet<string> = new Set([
  'invoke_contract',
  'create_contract',
  'upload_wasm',
  'restore_footprint',
] satisfies SorobanOperation['type'][])

/**
 * An argument of a smart contract in the API's notation: the text `void`, or an object with exactly one
 * field, which names the type. 64-bit integers are bigint; wider ones are whole, in decimal digits, or in
 * parts as in XDR.
 */
export type ScValue = 'void' | ScValueFields

export interface ScValueFields {
  readonly bool?: boolean
  readonly u32?: number
  readonly i32?: number
  readonly u64?: bigint
  readonly i64?: bigint
  /** Unix time in seconds. */
  readonly timepoint?: bigint
  /** Seconds. */
  readonly duration?: bigint
  readonly u128?: Parts128 | string
  readonly i128?: Parts128 | string
  readonly u256?: Parts256 | string
  readonly i256?: Parts256 | string
  /** Hexadecimal, without `0x`. */
  readonly bytes?: string
  readonly string?: string
  readonly symbol?: string
  /** `G…` or `C…`. */
  readonly address?: string
  readonly vec?: readonly ScValue[]
  readonly map?: readonly ScEntry[]
}

export interface ScEntry {
  readonly key: ScValue
  readonly val: ScValue
}

/** `Int128Parts` and `UInt128Parts` of XDR: `hi` has the sign. */
interface Parts128 {
  readonly hi: bigint
  readonly lo: bigint
}

/** `Int256Parts` and `UInt256Parts` of XDR: `hi_hi` has the sign. */
interface Parts256 {
  readonly hi_hi: bigint
  readonly hi_lo: bigint
  readonly lo_hi: bigint
  readonly lo_lo: bigint
}

/** The types of integers that are wider than 64 bits. */
export type WideType = 'u128' | 'i128' | 'u256' | 'i256'

/** Returns the integer that the value describes. */
export function wideInteger(value: Parts128 | Parts256 | string): bigint {
  if (typeof value === 'string') return BigInt(value)
  if ('hi' in value) return (value.hi << 64n) + value.lo
  return (value.hi_hi << 192n) + (value.hi_lo << 128n) + (value.lo_hi << 64n) + value.lo_lo
}

/** Returns true if an integer fits its type. */
export function fitsWide(type: WideType, integer: bigint): boolean {
  const bits = type.endsWith('128') ? 128 : 256
  const fitting = type.startsWith('i') ? BigInt.asIntN(bits, integer) : BigInt.asUintN(bits, integer)
  return fitting === integer
}
