import {
  ContractExecutable,
  ContractIdPreimage,
  ContractIdPreimageFromAddress,
  CreateContractArgs,
  CreateContractArgsV2,
  ExtensionPoint,
  HostFunction,
  InvokeContractArgs,
  InvokeHostFunctionOp,
  OperationBody,
  RestoreFootprintOp,
  SorobanAuthorizationEntry,
} from '@stellar/stellar-sdk/xdr'
import type {
  CreateContractOperation,
  HostFunctionOperation,
  SorobanAuth,
  SorobanOperation,
  UploadWasmOperation,
} from '../model/operation.ts'
import { encodeScAddress, encodeScValue } from './sc-value.ts'

/** The default salt: 32 zero bytes. */
const NO_SALT = '00'.repeat(32)

/** Encodes an operation of smart contracts as XDR, with the authorization that the caller sent. */
export function encodeSoroban(operation: SorobanOperation): OperationBody {
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
 * Only the second form has arguments for a constructor (CAP-58); the first form runs on every protocol, so it is used where there are no
 * arguments.
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
