import { SorobanAuthorizationEntry } from '@stellar/stellar-sdk/xdr'
import { wasmBytes } from '../encode/soroban.ts'
import type {
  CreateContractOperation,
  InvokeContractOperation,
  SorobanAuth,
  SorobanOperation,
  UploadWasmOperation,
} from '../model/operation.ts'
import { accountId, contractAddress, firstOf, type Problem } from './fields.ts'
import { checkScValue } from './sc-value.ts'

/** `contractMaxSizeBytes` in the settings of pubnet and testnet, in bytes. A network with a lower limit refuses at the simulation. */
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
    ? `${at}.auth.type: the service signs for the relayer's own account only; give the signed entries of others as xdr.`
    : undefined
}

function checkCall(operation: InvokeContractOperation, at: string): Problem {
  const { contract_address, function_name, args, named_args } = operation
  if (named_args !== undefined) throw new Error('named arguments have to be encoded before they are checked')
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
