import { StrKey } from '@stellar/stellar-sdk/base'
import type {
  HostFunction,
  InvokeContractArgs,
  InvokeHostFunctionOp,
  OperationBody,
  ScAddress,
  ScVal,
  SorobanAuthorizationEntry,
  SorobanAuthorizedFunction,
  SorobanAuthorizedInvocation,
} from '@stellar/stellar-sdk/xdr'
import { CONTRACT_CREATION, type Effects, joinEffects, type PartialEffects } from '../../effects.ts'
import { wideInteger } from '../model/operation.ts'
import { accountIdOf } from '../model/strkey.ts'

/** Returns the contracts that an operation calls, from any source. */
export function calledContracts(body: OperationBody): string[] {
  return body.type === 'invokeHostFunction' ? [targetOf(body.invokeHostFunctionOp.hostFunction)] : []
}

/**
 * Returns the effects of a host function on its source, `address`. Contract code can move everything for
 * which the account authorizes it, so only calls of tokens that authorize nothing but themselves are read.
 */
export function invocationEffects(
  { hostFunction, auth }: InvokeHostFunctionOp,
  address: string,
): PartialEffects {
  // The upload of code runs no contract.
  if (hostFunction.type === 'hostFunctionTypeUploadContractWasm') return {}
  const call = callOf(hostFunction)
  const read =
    call !== undefined && authorizesOnly(auth, { call, address }) ? readTokenCall(call, address) : undefined
  // The call counts as unread in any case. The contract can be that of an asset which the rules know by
  // another name, and a contract that only looks like a token can ask the simulation for more than its call
  // shows.
  return { ...read, ...unreadEffects(hostFunction) }
}

/**
 * Returns the effects on `address` of a host function with another source: those for which a signed entry of
 * `address` is attached.
 */
export function externallySignedInvocationEffects(
  { hostFunction, auth }: InvokeHostFunctionOp,
  address: string,
): PartialEffects {
  return auth.some((entry) => namesInCredentials(entry, address)) ? unreadEffects(hostFunction) : {}
}

function unreadEffects(hostFunction: HostFunction): PartialEffects {
  return { unread: [{ target: targetOf(hostFunction) }] }
}

function targetOf(hostFunction: HostFunction): string {
  const call = callOf(hostFunction)
  return call === undefined ? CONTRACT_CREATION : contractName(call)
}

function callOf(hostFunction: HostFunction): InvokeContractArgs | undefined {
  return hostFunction.type === 'hostFunctionTypeInvokeContract' ? hostFunction.invokeContract : undefined
}

/**
 * Returns true if the entries of `address`, the source of the call, authorize this call and nothing else. A
 * tree of invocations need not begin with the call itself: a contract can call another one, for which a
 * separate entry is attached.
 */
function authorizesOnly(
  entries: readonly SorobanAuthorizationEntry[],
  { call, address }: { readonly call: InvokeContractArgs; readonly address: string },
): boolean {
  return entries
    .filter((entry) => isBySource(entry) || namesInCredentials(entry, address))
    .every(({ rootInvocation }) => isJust(rootInvocation, call))
}

/** Returns true for an entry that `address` authorizes with a separate signature. */
function namesInCredentials({ credentials }: SorobanAuthorizationEntry, address: string): boolean {
  switch (credentials.type) {
    case 'sorobanCredentialsSourceAccount':
      return false
    case 'sorobanCredentialsAddress':
      return addressName(credentials.address.address) === address
    case 'sorobanCredentialsAddressV2':
      return addressName(credentials.addressV2.address) === address
    // A delegate can be the account that signs, so this kind always counts as its entry.
    case 'sorobanCredentialsAddressWithDelegates':
      return true
  }
}

function isBySource({ credentials }: SorobanAuthorizationEntry): boolean {
  return credentials.type === 'sorobanCredentialsSourceAccount'
}

function isJust(invocation: SorobanAuthorizedInvocation, call: InvokeContractArgs): boolean {
  const { function: root, subInvocations } = invocation
  return (
    subInvocations.length === 0 &&
    root.type === 'sorobanAuthorizedFunctionTypeContractFn' &&
    Buffer.from(root.contractFn.toXdr()).equals(call.toXdr())
  )
}

/**
 * Returns the effects of an authorization: those of its first invocation and of every one below it. No
 * transaction of the relayer surrounds them, so a contract of anyone can make these calls, and each of them
 * counts as one of the relayer. Tokens count no matter who owns them, because the signature can be for
 * another account that has the same key.
 */
export function authorizedEffects(root: SorobanAuthorizedInvocation): Effects {
  return joinEffects(flatten(root).map((invocation) => effectsOf(invocation.function)))
}

function flatten(root: SorobanAuthorizedInvocation): SorobanAuthorizedInvocation[] {
  const found = [root]
  // The loop reaches what it appends.
  for (const { subInvocations } of found) found.push(...subInvocations)
  return found
}

function effectsOf(called: SorobanAuthorizedFunction): PartialEffects {
  if (called.type !== 'sorobanAuthorizedFunctionTypeContractFn')
    return {
      operations: ['create_contract'],
      contracts: [CONTRACT_CREATION],
      unread: [{ target: CONTRACT_CREATION }],
    }
  const target = contractName(called.contractFn)
  return {
    operations: ['invoke_contract'],
    contracts: [target],
    ...readTokenCall(called.contractFn),
    // As in a transaction, the call counts as unread in any case: the contract can be that of an asset with
    // another name.
    unread: [{ target }],
  }
}

/** A call of a token that moves an amount, or lets another account take it (SEP-41). */
export interface TokenCall {
  /** The address of the contract. */
  readonly asset: string
  /** The account, or contract, whose tokens it moves. */
  readonly owner: string
  /** The account that receives it, or may take it; absent if the amount is destroyed. */
  readonly receiver?: string
  readonly amount: bigint
  /** Nothing moves yet. */
  readonly isAllowance: boolean
}

interface Layout {
  /** The types of the arguments. */
  readonly types: readonly ScVal['type'][]
  /** The indices of arguments. */
  readonly owner: number
  readonly receiver?: number
  readonly amount: number
}

/** The functions of a token that move what their first argument owns (SEP-41). */
const OWN_CALLS: ReadonlyMap<string, Layout> = new Map([
  ['transfer', { types: ['scvAddress', 'scvAddress', 'scvI128'], owner: 0, receiver: 1, amount: 2 }],
  ['approve', { types: ['scvAddress', 'scvAddress', 'scvI128', 'scvU32'], owner: 0, receiver: 1, amount: 2 }],
  ['burn', { types: ['scvAddress', 'scvI128'], owner: 0, amount: 1 }],
])

/** The functions that move what others have allowed the first argument to take. */
const CALLS_OF_SPENDERS: ReadonlyMap<string, Layout> = new Map([
  [
    'transfer_from',
    { types: ['scvAddress', 'scvAddress', 'scvAddress', 'scvI128'], owner: 1, receiver: 2, amount: 3 },
  ],
  ['burn_from', { types: ['scvAddress', 'scvAddress', 'scvI128'], owner: 1, amount: 2 }],
])

/** Reads a call of a token; undefined for other functions and other arguments. */
export function readMovingCall(call: InvokeContractArgs): TokenCall | undefined {
  const name = call.functionName.toString()
  return readAs(OWN_CALLS.get(name) ?? CALLS_OF_SPENDERS.get(name), call)
}

function readAs(layout: Layout | undefined, call: InvokeContractArgs): TokenCall | undefined {
  const asset = addressName(call.contractAddress)
  const { functionName, args } = call
  if (asset === undefined || layout === undefined || !hasLayout(args, layout.types)) return undefined
  const nameAt = (index: number) => {
    const arg = args[index]
    return arg?.type === 'scvAddress' ? addressName(arg.address) : undefined
  }
  const value = args[layout.amount]
  const amount = value?.type === 'scvI128' ? wideInteger(value.i128) : -1n
  const owner = nameAt(layout.owner)
  if (owner === undefined || amount < 0n) return undefined
  const moved = { asset, owner, amount, isAllowance: functionName.toString() === 'approve' }
  if (layout.receiver === undefined) return moved
  const receiver = nameAt(layout.receiver)
  return receiver === undefined ? undefined : { ...moved, receiver }
}

/**
 * Reads a call that moves tokens of `owner`, or of anyone when that is not given; undefined for other
 * functions, other arguments and the tokens of others.
 */
function readTokenCall(call: InvokeContractArgs, owner?: string): PartialEffects | undefined {
  const read = readAs(OWN_CALLS.get(call.functionName.toString()), call)
  if (read === undefined || read.owner !== (owner ?? read.owner)) return undefined
  const { asset, receiver, amount: value, isAllowance } = read
  const amounts = [{ asset, value }]
  return {
    receivers: receiver === undefined ? [] : [receiver],
    amounts,
    ...(isAllowance && { allowances: amounts }),
  }
}

function hasLayout(args: readonly ScVal[], layout: readonly ScVal['type'][]): boolean {
  return args.length === layout.length && args.every(({ type }, index) => type === layout[index])
}

/**
 * Returns the `G…` address of an account, without the number of a muxed one, or the `C…` address of a
 * contract; undefined for others.
 */
export function addressName(address: ScAddress): string | undefined {
  switch (address.type) {
    case 'scAddressTypeAccount':
      return accountIdOf(address.accountId.ed25519.toBytes())
    case 'scAddressTypeMuxedAccount':
      return accountIdOf(address.muxedAccount.ed25519.toBytes())
    case 'scAddressTypeContract':
      return StrKey.encodeContract(address.contractId.toBytes())
    default:
      return undefined
  }
}

/**
 * Returns the address of the contract that a call names. The ledger calls nothing else; the name of another
 * kind of address is on no list.
 */
function contractName({ contractAddress }: InvokeContractArgs): string {
  return addressName(contractAddress) ?? contractAddress.type
}
