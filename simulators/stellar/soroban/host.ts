import { Address, xdr } from '@stellar/stellar-sdk'
import type { Network } from '../network.ts'
import { createAssetProgram } from './asset-contract.ts'
import type { Authorizer, Call } from './authorization.ts'
import { type ContractFunction, type Env, type Program, type Programs, Trap } from './contracts.ts'
import {
  codeEntry,
  codeLedgerKey,
  contractAddress,
  dataEntry,
  dataLedgerKey,
  instanceEntry,
  instanceLedgerKey,
  sha256,
} from './keys.ts'
import { MIN_PERSISTENT_LEDGERS, MIN_TEMPORARY_LEDGERS, type Storage } from './storage.ts'

/** The context of a host function. */
export interface HostContext {
  readonly network: Network
  readonly ledger: number
  readonly closeTime: bigint
  readonly programs: Programs
  readonly storage: Storage
  readonly authorizer: Authorizer
}

/** The return value and the events. */
export interface HostOutcome {
  readonly returned: xdr.ScVal
  readonly events: readonly xdr.ContractEvent[]
  readonly instructions: number
}

/** Running is not measured, it is estimated by what was done; in instructions of the network's budget. */
const INSTRUCTIONS_PER_CALL = 1_500_000
const INSTRUCTIONS_PER_ACCESS = 100_000

interface Run extends HostContext {
  readonly calls: Call[]
  readonly events: xdr.ContractEvent[]
  count: number
}

/** Runs a host function (CAP-46). Throws a {@link Trap} when it does not come to its end. */
export function runHostFunction(hostFunction: xdr.HostFunction, context: HostContext): HostOutcome {
  const run: Run = { ...context, calls: [], events: [], count: 0 }
  const returned = dispatch(hostFunction, run)
  const { accesses } = context.storage.usage()
  const instructions = run.count * INSTRUCTIONS_PER_CALL + accesses * INSTRUCTIONS_PER_ACCESS
  return { returned, events: run.events, instructions }
}

function dispatch(hostFunction: xdr.HostFunction, run: Run): xdr.ScVal {
  switch (hostFunction.type) {
    case 'hostFunctionTypeInvokeContract':
      return invoke(run, hostFunction.invokeContract)
    case 'hostFunctionTypeUploadContractWasm':
      return upload(run, hostFunction.wasm)
    case 'hostFunctionTypeCreateContract': {
      const args = hostFunction.createContract
      const authorized = xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeCreateContractHostFn(args)
      return create(run, args, [], authorized)
    }
    case 'hostFunctionTypeCreateContractV2': {
      const args = hostFunction.createContractV2
      const authorized =
        xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeCreateContractV2HostFn(args)
      return create(run, args, args.constructorArgs, authorized)
    }
  }
}

function invoke(run: Run, args: xdr.InvokeContractArgs): xdr.ScVal {
  const contract = Address.fromScAddress(args.contractAddress).toString()
  const name = args.functionName.toString()
  if (name.startsWith('__')) throw new Trap('HostError: Error(Context, InvalidAction): reserved function')
  const program = load(run, contract)
  return enter(run, contract, functionOf(program, name), args)
}

/** Makes the call the innermost one, runs it, and leaves it. */
function enter(
  run: Run,
  contract: string,
  contractFunction: ContractFunction,
  args: xdr.InvokeContractArgs,
): xdr.ScVal {
  const authorized = xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(args)
  run.count += 1
  run.calls.push({ contract, function: authorized })
  const returned = contractFunction(createEnv(run, contract), ...args.args)
  run.calls.pop()
  return returned ?? xdr.ScVal.scvVoid()
}

function load(run: Run, contract: string): Program {
  const instance = run.storage.read(instanceLedgerKey(contract))
  const value =
    instance?.kind === 'contract' && instance.data.type === 'contractData'
      ? instance.data.contractData.val
      : undefined
  if (value?.type !== 'scvContractInstance') {
    throw new Trap(
      `HostError: Error(Storage, MissingValue): trying to get non-existing value for contract instance ${contract}`,
    )
  }
  const { executable } = value.instance
  if (executable.type === 'contractExecutableStellarAsset')
    return createAssetProgram(run.storage, run.network)
  if (executable.type !== 'contractExecutableWasm') throw new Trap('HostError: Error(Context, InvalidInput)')
  const hash = executable.wasmHash.toString()
  if (!run.storage.read(codeLedgerKey(hash))) {
    throw new Trap('HostError: Error(Storage, MissingValue): Wasm does not exist')
  }
  const program = run.programs.get(hash)
  if (!program) throw new Trap('HostError: Error(WasmVm, InvalidAction): no one said what this code does')
  return program
}

function functionOf(program: Program, name: string): ContractFunction {
  const found = Object.hasOwn(program, name) ? program[name] : undefined
  if (!found)
    throw new Trap('HostError: Error(WasmVm, MissingValue): trying to invoke non-existent contract function')
  return found
}

/** The magic number and the version of a WebAssembly module. */
const MODULE = Buffer.from('0061736d01000000', 'hex')

function upload(run: Run, wasm: Uint8Array): xdr.ScVal {
  run.count += 1
  if (!MODULE.equals(wasm.subarray(0, MODULE.length)))
    throw new Trap('HostError: Error(WasmVm, InvalidInput)')
  const hash = sha256(wasm)
  const key = codeLedgerKey(hash)
  if (!run.storage.read(key)) run.storage.write(codeEntry(wasm, liveUntil(run, MIN_PERSISTENT_LEDGERS)), key)
  return xdr.ScVal.scvBytes(Buffer.from(hash, 'hex'))
}

function create(
  run: Run,
  { contractIdPreimage, executable }: xdr.CreateContractArgs | xdr.CreateContractArgsV2,
  constructorArgs: readonly xdr.ScVal[],
  authorized: xdr.SorobanAuthorizedFunction,
): xdr.ScVal {
  const contract = contractAddress(contractIdPreimage, run.network)
  run.count += 1
  run.calls.push({ contract: '', function: authorized })
  if (contractIdPreimage.type === 'contractIdPreimageFromAddress') {
    run.authorizer.require(
      Address.fromScAddress(contractIdPreimage.fromAddress.address).toString(),
      run.calls,
    )
  }
  const key = instanceLedgerKey(contract)
  if (run.storage.read(key))
    throw new Trap('HostError: Error(Storage, ExistingValue): contract already exists')
  run.storage.write(instanceEntry(contract, executable, liveUntil(run, MIN_PERSISTENT_LEDGERS)), key)
  construct(run, contract, constructorArgs)
  run.calls.pop()
  return Address.fromString(contract).toScVal()
}

function construct(run: Run, contract: string, args: readonly xdr.ScVal[]): void {
  const { __constructor: initialise } = load(run, contract)
  if (!initialise) {
    if (args.length > 0) throw new Trap('HostError: Error(WasmVm, MissingValue): there is no constructor')
    return
  }
  const contractAddress = Address.fromString(contract).toScAddress()
  const functionName = '__constructor'
  enter(
    run,
    contract,
    initialise,
    new xdr.InvokeContractArgs({ contractAddress, functionName, args: [...args] }),
  )
}

function createEnv(run: Run, contract: string): Env {
  const { storage, ledger, closeTime } = run
  return {
    contract,
    ledger,
    closeTime,
    get(key, durability = 'persistent') {
      const entry = storage.read(dataLedgerKey(contract, key, durability))
      return entry?.kind === 'contract' && entry.data.type === 'contractData'
        ? entry.data.contractData.val
        : undefined
    },
    set(key, value, durability = 'persistent') {
      const ledgerKey = dataLedgerKey(contract, key, durability)
      const known = storage.read(ledgerKey)
      const lifetime = durability === 'persistent' ? MIN_PERSISTENT_LEDGERS : MIN_TEMPORARY_LEDGERS
      const until = known?.kind === 'contract' ? Math.max(known.liveUntil, ledger) : liveUntil(run, lifetime)
      storage.write(dataEntry(ledgerKey, value, until), ledgerKey)
    },
    remove: (key, durability = 'persistent') => storage.remove(dataLedgerKey(contract, key, durability)),
    requireAuth(address) {
      // A contract agrees to what it calls itself.
      if (run.calls.at(-2)?.contract === address) return
      run.authorizer.require(address, run.calls)
    },
    requireAuthForArgs(address, args) {
      const own = run.calls.at(-1)?.function
      if (own?.type !== 'sorobanAuthorizedFunctionTypeContractFn') throw new Error('No contract is called.')
      const { contractAddress, functionName } = own.contractFn
      const call = new xdr.InvokeContractArgs({ contractAddress, functionName, args: [...args] })
      run.authorizer.require(
        address,
        run.calls,
        xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(call),
      )
    },
    call: (callee, name, ...args) =>
      invoke(
        run,
        new xdr.InvokeContractArgs({
          contractAddress: Address.fromString(callee).toScAddress(),
          functionName: name,
          args: [...args],
        }),
      ),
    emit: (topics, data) => void run.events.push(createEvent(contract, topics, data)),
    trap(message) {
      throw new Trap(`HostError: Error(WasmVm, InvalidAction): ${message}`)
    },
  }
}

function liveUntil({ ledger }: Run, ledgers: number): number {
  return ledger + ledgers - 1
}

function createEvent(contract: string, topics: readonly xdr.ScVal[], data: xdr.ScVal): xdr.ContractEvent {
  return new xdr.ContractEvent({
    ext: xdr.ExtensionPoint.v0(),
    contractId: new xdr.ContractId(Address.fromString(contract).toBuffer()),
    type: xdr.ContractEventType.contract,
    body: xdr.ContractEventBody.v0(new xdr.ContractEventV0({ topics: [...topics], data })),
  })
}
