import { SorobanAuthorizationEntry } from '@stellar/stellar-sdk/xdr'
import { wasmBytes } from '../encode.ts'
import {
  type CreateContractOperation,
  fitsWide,
  type InvokeContractOperation,
  type ScValue,
  type ScValueFields,
  type SorobanAuth,
  type SorobanOperation,
  type UploadWasmOperation,
  type WideType,
  wideInteger,
} from '../model/operation.ts'
import { isAccountId, isContractAddress } from '../model/strkey.ts'
import { accountId, contractAddress, firstOf, type Problem } from './fields.ts'

/**
 * `contractMaxSizeBytes` in the settings of pubnet and testnet, in bytes. A network with a lower limit
 * refuses at the simulation.
 */
export const MAX_WASM_BYTES = 131_072

/** Every WebAssembly module begins with `\0asm`. */
const WASM_MAGIC = '0061736d'

/** Checks an operation of smart contracts by the rules that do not depend on the ledger. */
export function checkSoroban(operation: SorobanOperation, at: string): Problem {
  if (operation.type === 'restore_footprint') return undefined
  const problem =
    operation.type === 'invoke_contract'
      ? checkCall(operation, at)
      : operation.type === 'create_contract'
        ? checkCreation(operation, at)
        : checkWasm(operation, at)
  return problem ?? (operation.auth === undefined ? undefined : checkAuth(operation.auth, `${at}.auth`))
}

/** Explains which valid authorization the service cannot provide. */
export function unsupportedAuth(operation: SorobanOperation, at: string): Problem {
  return operation.type !== 'restore_footprint' && operation.auth?.type === 'addresses'
    ? `${at}.auth.type: the service signs only for the relayer's own account; pass the signed entries of others as xdr.`
    : undefined
}

function checkCall(operation: InvokeContractOperation, at: string): Problem {
  const { contract_address, function_name, args, named_args } = operation
  if (named_args !== undefined) throw new Error('named arguments must be encoded before they are checked')
  return (
    contractAddress(contract_address, `${at}.contract_address`) ??
    (/^[A-Za-z0-9_]{1,32}$/.test(function_name)
      ? undefined
      : `${at}.function_name: 1 to 32 letters, digits and underscores are expected.`) ??
    firstOf(args, `${at}.args`, (arg, path) => checkScValue(arg, path))
  )
}

function checkCreation(operation: CreateContractOperation, at: string): Problem {
  const { source, wasm_hash, salt, constructor_args } = operation
  return (
    (source.from === 'address'
      ? accountId(source.address, `${at}.source.address`)
      : contractAddress(source.contract, `${at}.source.contract`)) ??
    hash(wasm_hash, `${at}.wasm_hash`) ??
    hash(salt, `${at}.salt`) ??
    firstOf(constructor_args ?? [], `${at}.constructor_args`, (arg, path) => checkScValue(arg, path))
  )
}

function hash(text: string | undefined, at: string): Problem {
  return text === undefined || /^[0-9a-fA-F]{64}$/.test(text)
    ? undefined
    : `${at}: 64 hexadecimal digits are expected.`
}

function checkWasm(operation: UploadWasmOperation, at: string): Problem {
  const bytes = wasmBytes(operation)
  if (bytes.length > MAX_WASM_BYTES) {
    return `${at}.wasm: at most ${MAX_WASM_BYTES} bytes are expected, ${bytes.length} were given.`
  }
  return bytes.subarray(0, 4).toString('hex') === WASM_MAGIC
    ? undefined
    : `${at}.wasm: a WebAssembly module is expected, which begins with the bytes ${WASM_MAGIC}.`
}

function checkAuth(auth: SorobanAuth, at: string): Problem {
  if (auth.type !== 'xdr') return undefined
  return firstOf(auth.entries, `${at}.entries`, (entry, path) =>
    SorobanAuthorizationEntry.validateXdr(entry, 'base64')
      ? undefined
      : `${path}: a SorobanAuthorizationEntry is expected, XDR in base64.`,
  )
}

/** Smart contracts refuse values that are nested deeper (soroban-env-host `DEFAULT_HOST_DEPTH_LIMIT`). */
const MAX_DEPTH = 100

const WIDE_TYPES = ['u128', 'i128', 'u256', 'i256'] as const satisfies readonly WideType[]

/** The range of each type of 64 bits or less. */
const RANGES = {
  u32: [0n, 2n ** 32n - 1n],
  i32: [-(2n ** 31n), 2n ** 31n - 1n],
  u64: [0n, 2n ** 64n - 1n],
  i64: [-(2n ** 63n), 2n ** 63n - 1n],
  timepoint: [0n, 2n ** 64n - 1n],
  duration: [0n, 2n ** 64n - 1n],
} as const

/** Checks an argument of a smart contract. */
export function checkScValue(value: ScValue, at: string, depth = 1): Problem {
  if (value === 'void') return undefined
  if (depth > MAX_DEPTH) return `${at}: values may be nested ${MAX_DEPTH} deep.`
  if (Object.values(value).filter((field) => field !== undefined).length !== 1) {
    return `${at}: exactly one field is expected, which names the type.`
  }
  return (
    checkNarrow(value, at) ?? checkWide(value, at) ?? checkText(value, at) ?? checkNested(value, at, depth)
  )
}

function checkNarrow(value: ScValueFields, at: string): Problem {
  for (const [type, [least, most]] of Object.entries(RANGES) as [keyof typeof RANGES, [bigint, bigint]][]) {
    const integer = value[type]
    if (integer !== undefined && (integer < least || integer > most)) {
      return `${at}.${type}: an integer from ${least} to ${most} is expected.`
    }
  }
  return undefined
}

function checkWide(value: ScValueFields, at: string): Problem {
  for (const type of WIDE_TYPES) {
    const integer = value[type]
    if (integer !== undefined && !fitsWide(type, wideInteger(integer))) {
      return `${at}.${type}: an integer of ${type.slice(1)} bits${type.startsWith('i') ? ', signed,' : ''} is expected.`
    }
  }
  return undefined
}

function checkText({ symbol, address }: ScValueFields, at: string): Problem {
  if (symbol !== undefined && !/^[A-Za-z0-9_]{0,32}$/.test(symbol)) {
    return `${at}.symbol: at most 32 letters, digits and underscores are expected.`
  }
  if (address !== undefined && !isAccountId(address) && !isContractAddress(address)) {
    return `${at}.address: a Stellar address is expected (G… or C…); its checksum is wrong.`
  }
  return undefined
}

function checkNested({ vec, map }: ScValueFields, at: string, depth: number): Problem {
  if (vec) return firstOf(vec, `${at}.vec`, (item, path) => checkScValue(item, path, depth + 1))
  if (!map) return undefined
  return firstOf(
    map,
    `${at}.map`,
    ({ key, val }, path) =>
      checkScValue(key, `${path}.key`, depth + 1) ?? checkScValue(val, `${path}.val`, depth + 1),
  )
}
