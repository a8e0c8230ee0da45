import { SignerKey as SignerKeys, StrKey } from '@stellar/stellar-sdk/base'
import {
  AlphaNum4,
  AlphaNum12,
  Asset,
  BumpSequenceOp,
  ChangeTrustAsset,
  ChangeTrustOp,
  ClaimableBalanceId,
  Claimant,
  ClaimantV0,
  ClaimClaimableBalanceOp,
  ClaimPredicate,
  ContractExecutable,
  ContractId,
  ContractIdPreimage,
  ContractIdPreimageFromAddress,
  CreateAccountOp,
  CreateClaimableBalanceOp,
  CreateContractArgs,
  CreateContractArgsV2,
  ExtensionPoint,
  HostFunction,
  Int128Parts,
  Int256Parts,
  InvokeContractArgs,
  InvokeHostFunctionOp,
  ManageDataOp,
  Memo,
  type MuxedAccount,
  Operation,
  OperationBody,
  PathPaymentStrictReceiveOp,
  PathPaymentStrictSendOp,
  PaymentOp,
  RestoreFootprintOp,
  ScAddress,
  ScMapEntry,
  ScVal,
  SetOptionsOp,
  Signer,
  type SignerKey,
  SorobanAuthorizationEntry,
  Uint128Parts,
  Uint256Parts,
} from '@stellar/stellar-sdk/xdr'
import {
  type CreateContractOperation,
  type HostFunctionOperation,
  type ClaimPredicate as Predicate,
  type ScEntry,
  type ScValue,
  type ScValueFields,
  type SetOptionsOperation,
  type SorobanAuth,
  type SorobanOperation,
  type StellarAsset,
  type StellarMemo,
  type StellarOperation,
  type UploadWasmOperation,
  wideInteger,
} from './model/operation.ts'
import { isContractAddress, toMuxedAccount, toPublicKey } from './model/strkey.ts'

/** The largest amount that a trust line can hold, which is its default limit. */
const MAX_AMOUNT = 2n ** 63n - 1n

/** Encodes a checked operation as XDR. Without its own source it has the transaction's. */
export function encodeOperation(operation: StellarOperation, source?: MuxedAccount): Operation {
  return new Operation({ sourceAccount: source ?? null, body: encodeBody(operation) })
}

function encodeBody(operation: StellarOperation): OperationBody {
  // The table maps each type to the encoder of that type, which the compiler cannot follow through an index.
  const encode = ENCODERS[operation.type] as (operation: StellarOperation) => OperationBody
  return encode(operation)
}

type Encoders = {
  readonly [T in StellarOperation['type']]: (
    operation: Extract<StellarOperation, { type: T }>,
  ) => OperationBody
}

const ENCODERS: Encoders = {
  payment: ({ destination, asset, amount }) =>
    OperationBody.payment(
      new PaymentOp({ destination: toMuxedAccount(destination), asset: encodeAsset(asset), amount }),
    ),
  create_account: ({ destination, starting_balance: startingBalance }) =>
    OperationBody.createAccount(
      new CreateAccountOp({ destination: toPublicKey(destination), startingBalance }),
    ),
  change_trust: ({ asset, limit = MAX_AMOUNT }) =>
    OperationBody.changeTrust(new ChangeTrustOp({ line: encodeTrustLine(asset), limit })),
  path_payment_strict_send: (operation) =>
    OperationBody.pathPaymentStrictSend(
      new PathPaymentStrictSendOp({
        sendAsset: encodeAsset(operation.send_asset),
        sendAmount: operation.send_amount,
        destination: toMuxedAccount(operation.destination),
        destAsset: encodeAsset(operation.dest_asset),
        destMin: operation.dest_min,
        path: (operation.path ?? []).map(encodeAsset),
      }),
    ),
  path_payment_strict_receive: (operation) =>
    OperationBody.pathPaymentStrictReceive(
      new PathPaymentStrictReceiveOp({
        sendAsset: encodeAsset(operation.send_asset),
        sendMax: operation.send_max,
        destination: toMuxedAccount(operation.destination),
        destAsset: encodeAsset(operation.dest_asset),
        destAmount: operation.dest_amount,
        path: (operation.path ?? []).map(encodeAsset),
      }),
    ),
  manage_data: ({ name, value }) =>
    OperationBody.manageData(
      new ManageDataOp({ dataName: name, dataValue: value === null ? null : Buffer.from(value, 'base64') }),
    ),
  set_options: encodeSetOptions,
  account_merge: ({ destination }) => OperationBody.accountMerge(toMuxedAccount(destination)),
  create_claimable_balance: ({ asset, amount, claimants }) =>
    OperationBody.createClaimableBalance(
      new CreateClaimableBalanceOp({
        asset: encodeAsset(asset),
        amount,
        claimants: claimants.map(({ destination, predicate }) =>
          Claimant.claimantTypeV0(
            new ClaimantV0({ destination: toPublicKey(destination), predicate: encodePredicate(predicate) }),
          ),
        ),
      }),
    ),
  claim_claimable_balance: ({ balance_id: id }) =>
    OperationBody.claimClaimableBalance(
      new ClaimClaimableBalanceOp({ balanceId: ClaimableBalanceId.fromXdr(id, 'hex') }),
    ),
  bump_sequence: ({ bump_to: bumpTo }) => OperationBody.bumpSequence(new BumpSequenceOp({ bumpTo })),
  invoke_contract: encodeSoroban,
  create_contract: encodeSoroban,
  upload_wasm: encodeSoroban,
  restore_footprint: encodeSoroban,
}

/** Encodes the time at which a balance may be claimed as XDR; an absent predicate means any time. */
function encodePredicate(predicate: Predicate | undefined): ClaimPredicate {
  const { before_absolute_time: absolute, before_relative_time: relative, not, and, or } = predicate ?? {}
  if (absolute !== undefined) return ClaimPredicate.claimPredicateBeforeAbsoluteTime(absolute)
  if (relative !== undefined) return ClaimPredicate.claimPredicateBeforeRelativeTime(relative)
  if (not !== undefined) return ClaimPredicate.claimPredicateNot(encodePredicate(not))
  if (and !== undefined) return ClaimPredicate.claimPredicateAnd(and.map(encodePredicate))
  if (or !== undefined) return ClaimPredicate.claimPredicateOr(or.map(encodePredicate))
  return ClaimPredicate.claimPredicateUnconditional()
}

/** Encodes an asset as XDR. */
function encodeAsset(asset: StellarAsset): Asset {
  if (asset.type === 'native') return Asset.assetTypeNative()
  const issuer = toPublicKey(asset.issuer)
  return isShort(asset)
    ? Asset.assetTypeCreditAlphanum4(new AlphaNum4({ assetCode: asset.code, issuer }))
    : Asset.assetTypeCreditAlphanum12(new AlphaNum12({ assetCode: asset.code, issuer }))
}

/** Encodes the trust line of a `change_trust` as XDR. */
function encodeTrustLine(asset: StellarAsset): ChangeTrustAsset {
  if (asset.type === 'native') return ChangeTrustAsset.assetTypeNative()
  const issuer = toPublicKey(asset.issuer)
  return isShort(asset)
    ? ChangeTrustAsset.assetTypeCreditAlphanum4(new AlphaNum4({ assetCode: asset.code, issuer }))
    : ChangeTrustAsset.assetTypeCreditAlphanum12(new AlphaNum12({ assetCode: asset.code, issuer }))
}

function isShort({ type }: StellarAsset): boolean {
  return type === 'credit4' || type === 'credit_alphanum4'
}

/** Encodes `set_options` as XDR: absent fields stay unchanged on the account. */
function encodeSetOptions(operation: SetOptionsOperation): OperationBody {
  const { inflation_destination: destination, signer } = operation
  return OperationBody.setOptions(
    new SetOptionsOp({
      inflationDest: destination === undefined ? null : toPublicKey(destination),
      clearFlags: operation.clear_flags ?? null,
      setFlags: operation.set_flags ?? null,
      masterWeight: operation.master_weight ?? null,
      lowThreshold: operation.low_threshold ?? null,
      medThreshold: operation.medium_threshold ?? null,
      highThreshold: operation.high_threshold ?? null,
      homeDomain: operation.home_domain ?? null,
      signer:
        signer === undefined
          ? null
          : new Signer({ key: SignerKeys.decodeAddress(signer.key), weight: signer.weight }),
    }),
  )
}

/** Reads a signer's key; undefined for other text (SEP-23). */
export function readSignerKey(text: string): SignerKey | undefined {
  try {
    return SignerKeys.decodeAddress(text)
  } catch {
    return undefined // The SDK throws: a wrong letter, length or checksum.
  }
}

/** Encodes a memo as XDR; an absent memo as none. */
export function encodeMemo(memo: StellarMemo | undefined): Memo {
  if (memo === undefined || memo.type === 'none') return Memo.memoNone()
  if (memo.type === 'text') return Memo.memoText(memo.value)
  if (memo.type === 'id') return Memo.memoId(memo.value)
  const bytes = typeof memo.value === 'string' ? Buffer.from(memo.value, 'hex') : Uint8Array.from(memo.value)
  return memo.type === 'hash' ? Memo.memoHash(bytes) : Memo.memoReturn(bytes)
}

/** The default salt: 32 zero bytes. */
const NO_SALT = '00'.repeat(32)

/** Encodes an operation of smart contracts as XDR, with the authorization that the caller sent. */
function encodeSoroban(operation: SorobanOperation): OperationBody {
  if (operation.type === 'restore_footprint') {
    return OperationBody.restoreFootprint(new RestoreFootprintOp({ ext: ExtensionPoint.v0() }))
  }
  return OperationBody.invokeHostFunction(
    new InvokeHostFunctionOp({
      hostFunction: encodeFunction(operation),
      auth: decodeAuthEntries(operation.auth),
    }),
  )
}

/** Returns the code of an `upload_wasm`. */
export function wasmBytes({ wasm }: UploadWasmOperation): Buffer {
  return 'hex' in wasm ? Buffer.from(wasm.hex, 'hex') : Buffer.from(wasm.base64, 'base64')
}

function decodeAuthEntries(auth: SorobanAuth | undefined): SorobanAuthorizationEntry[] {
  if (auth?.type !== 'xdr') return []
  return auth.entries.map((entry) => SorobanAuthorizationEntry.fromXdr(entry, 'base64'))
}

function encodeFunction(operation: HostFunctionOperation): HostFunction {
  if (operation.type === 'upload_wasm')
    return HostFunction.hostFunctionTypeUploadContractWasm(wasmBytes(operation))
  if (operation.type === 'create_contract') return encodeCreation(operation)
  return HostFunction.hostFunctionTypeInvokeContract(
    new InvokeContractArgs({
      contractAddress: encodeScAddress(operation.contract_address),
      functionName: operation.function_name,
      args: operation.args.map(encodeScValue),
    }),
  )
}

/**
 * Only the second form has arguments for a constructor (CAP-58); the first form runs on every protocol, so it
 * is used where there are no arguments.
 */
function encodeCreation({
  source,
  salt,
  wasm_hash,
  constructor_args,
}: CreateContractOperation): HostFunction {
  const address = encodeScAddress(source.from === 'address' ? source.address : source.contract)
  const contractIdPreimage = ContractIdPreimage.contractIdPreimageFromAddress(
    new ContractIdPreimageFromAddress({ address, salt: Buffer.from(salt ?? NO_SALT, 'hex') }),
  )
  const executable = ContractExecutable.contractExecutableWasm(Buffer.from(wasm_hash, 'hex'))
  if (constructor_args === undefined) {
    return HostFunction.hostFunctionTypeCreateContract(
      new CreateContractArgs({ contractIdPreimage, executable }),
    )
  }
  const constructorArgs = constructor_args.map(encodeScValue)
  return HostFunction.hostFunctionTypeCreateContractV2(
    new CreateContractArgsV2({ contractIdPreimage, executable, constructorArgs }),
  )
}

/**
 * Encodes a checked argument as XDR.
 * @throws Error for an object that names no type
 */
export function encodeScValue(value: ScValue): ScVal {
  if (value === 'void') return ScVal.scvVoid()
  const encoded = encodeInteger(value) ?? encodeWide(value) ?? encodeOther(value)
  if (encoded === undefined) throw new Error('an argument without a type passed the check')
  return encoded
}

/** Encodes a `G…` or `C…` address as XDR. */
export function encodeScAddress(address: string): ScAddress {
  return isContractAddress(address)
    ? ScAddress.scAddressTypeContract(new ContractId(StrKey.decodeContract(address)))
    : ScAddress.scAddressTypeAccount(toPublicKey(address))
}

function encodeInteger({ bool, u32, i32, u64, i64, timepoint, duration }: ScValueFields): ScVal | undefined {
  if (bool !== undefined) return ScVal.scvBool(bool)
  if (u32 !== undefined) return ScVal.scvU32(u32)
  if (i32 !== undefined) return ScVal.scvI32(i32)
  if (u64 !== undefined) return ScVal.scvU64(u64)
  if (i64 !== undefined) return ScVal.scvI64(i64)
  if (timepoint !== undefined) return ScVal.scvTimepoint(timepoint)
  return duration === undefined ? undefined : ScVal.scvDuration(duration)
}

function encodeWide({ u128, i128, u256, i256 }: ScValueFields): ScVal | undefined {
  if (u128 !== undefined) return ScVal.scvU128(new Uint128Parts(halves(wideInteger(u128), BigInt.asUintN)))
  if (i128 !== undefined) return ScVal.scvI128(new Int128Parts(halves(wideInteger(i128), BigInt.asIntN)))
  if (u256 !== undefined) return ScVal.scvU256(new Uint256Parts(quarters(wideInteger(u256), BigInt.asUintN)))
  return i256 === undefined
    ? undefined
    : ScVal.scvI256(new Int256Parts(quarters(wideInteger(i256), BigInt.asIntN)))
}

/** Cuts the highest part of an integer, the only part with a sign. */
type Cut = typeof BigInt.asIntN

function halves(integer: bigint, cut: Cut) {
  return { hi: cut(64, integer >> 64n), lo: BigInt.asUintN(64, integer) }
}

function quarters(integer: bigint, cut: Cut) {
  return {
    hiHi: cut(64, integer >> 192n),
    hiLo: BigInt.asUintN(64, integer >> 128n),
    loHi: BigInt.asUintN(64, integer >> 64n),
    loLo: BigInt.asUintN(64, integer),
  }
}

function encodeOther({ bytes, string, symbol, address, vec, map }: ScValueFields): ScVal | undefined {
  if (bytes !== undefined) return ScVal.scvBytes(Buffer.from(bytes, 'hex'))
  if (string !== undefined) return ScVal.scvString(string)
  if (symbol !== undefined) return ScVal.scvSymbol(symbol)
  if (address !== undefined) return ScVal.scvAddress(encodeScAddress(address))
  if (vec !== undefined) return ScVal.scvVec(vec.map(encodeScValue))
  return map === undefined ? undefined : ScVal.scvMap(inKeyOrder(map).map(encodeEntry))
}

function encodeEntry({ key, val }: ScEntry): ScMapEntry {
  return new ScMapEntry({ key: encodeScValue(key), val: encodeScValue(val) })
}

/**
 * Smart contracts accept a map only in the order of its keys (CAP-46-01, "ScMap"). The service sorts maps
 * whose keys are all of one simple type; for other keys it keeps the caller's order.
 */
function inKeyOrder(map: readonly ScEntry[]): readonly ScEntry[] {
  const [first] = map
  const kind = first && kindOf(first.key)
  if (kind === undefined || !map.every(({ key }) => kindOf(key) === kind)) return map
  return map.toSorted((a, b) => compareKeys(sortKeyOf(a.key), sortKeyOf(b.key)))
}

/** The name of the type of a key that can be sorted. */
function kindOf(key: ScValue): string | undefined {
  return sortKeyOf(key) === undefined ? undefined : Object.keys(key)[0]
}

type SortKey = bigint | Buffer | undefined

/**
 * Integers are in the order of their values, texts and bytes in that of their bytes, and accounts before
 * contracts.
 */
function sortKeyOf(key: ScValue): SortKey {
  if (key === 'void') return undefined
  const { symbol, string, bytes, address } = key
  if (address !== undefined) return Buffer.from(encodeScAddress(address).toXdr())
  if (bytes !== undefined) return Buffer.from(bytes, 'hex')
  const text = symbol ?? string
  if (text !== undefined) return Buffer.from(text)
  const narrow = key.u32 ?? key.i32 ?? key.u64 ?? key.i64 ?? key.timepoint ?? key.duration
  if (narrow !== undefined) return BigInt(narrow)
  const wide = key.u128 ?? key.i128 ?? key.u256 ?? key.i256
  return wide === undefined ? undefined : wideInteger(wide)
}

function compareKeys(a: SortKey, b: SortKey): number {
  if (a instanceof Buffer && b instanceof Buffer) return Buffer.compare(a, b)
  return (a ?? 0n) < (b ?? 0n) ? -1 : 1
}
