import {
  HostFunction,
  InvokeContractArgs,
  InvokeHostFunctionOp,
  Operation,
  OperationBody,
  Preconditions,
  ScVal,
  SorobanAddressCredentials,
  SorobanAuthorizationEntry,
  SorobanAuthorizedFunction,
  SorobanAuthorizedInvocation,
  SorobanCredentials,
  Transaction,
  TransactionExt,
} from '@stellar/stellar-sdk/xdr'
import type { Answer } from '../../answer.ts'
import type { Charge, SponsoredBuild, SponsoringPlan } from '../../capabilities.ts'
import { isPaidByUsers } from '../../sponsoring.ts'
import type { UnixSeconds } from '../content.ts'
import { addressName } from '../effects/invocation.ts'
import { paidIn } from '../effects/paid-in.ts'
import { encodeMemo, encodeScAddress } from '../encode.ts'
import {
  closeEnvelope,
  hashTransaction,
  openEnvelope,
  withFields,
  withLastLedger,
  withMaxTime,
} from '../model/envelope.ts'
import { toMuxedAccount } from '../model/strkey.ts'
import type { FundsReader } from '../read/accounts.ts'
import { readHead } from '../read/replies.ts'
import { i128, readTokenContract } from '../read/tokens.ts'
import type { StellarAccount } from '../types.ts'
import type { PrepareContext } from './prepare.ts'
import { type Simulation, simulate } from './simulate.ts'

/** The tools of sponsoring. */
export interface SponsoringContext extends PrepareContext {
  readonly funds: FundsReader
  /** The expected time between two ledgers, in ms. */
  readonly ledgerMs: number
}

/** A build can be included for this time, in seconds of the ledger. */
export const VALID_SECONDS = 120n

/** The function of the FeeForwarder contract (OpenZeppelin/stellar-contracts, fee-abstraction). */
const FORWARD = 'forward'

/** Returns the call of a contract that is the only operation; undefined for other operations. */
export function callIn({ operations }: Transaction): InvokeContractArgs | undefined {
  const body = operations[0]?.body
  return body?.type === 'invokeHostFunction' &&
    body.invokeHostFunctionOp.hostFunction.type === 'hostFunctionTypeInvokeContract'
    ? body.invokeHostFunctionOp.hostFunction.invokeContract
    : undefined
}

/** A call to forward. */
interface Forwarding {
  readonly token: string
  readonly account: StellarAccount
  readonly payer: string
  /** The last second in which a ledger may include it. */
  readonly until: UnixSeconds
  /** In stroops for each operation. */
  readonly bid: bigint
}

/**
 * The resources of the signed call may cost this much more than those of its simulation, in percent: the
 * check of the signature, and entries that have grown. The network returns what is not used.
 */
const RESOURCE_HEADROOM_PERCENT = 40n

/** The amounts of a simulation before the fee is known. */
const SMALLEST: Charge = { amount: 1n, most: 1n }

/**
 * Plans a call through the forwarder: the relayer is the source, and the user authorizes the call and the
 * payment.
 */
export async function planCall(
  context: SponsoringContext,
  call: InvokeContractArgs | undefined,
  forwarding: Forwarding,
): Promise<Answer<SponsoringPlan>> {
  const { account, payer, bid } = forwarding
  const { feeForwarder } = account.policies
  if (call === undefined) throw new Error('only calls of contracts are forwarded')
  if (!isPaidByUsers(account.policies))
    return refuse(
      'not_supported',
      'The relayer pays for smart contract calls; sign the call, and send it with fee_bump.',
    )
  if (feeForwarder === undefined)
    return refuse(
      'not_supported',
      'The relayer has no fee_forwarder, so it does not sponsor smart contract calls.',
    )
  const forwarded = { ...forwarding, call, forwarder: feeForwarder }
  const trial = await run(context, forwarded, SMALLEST)
  if (trial.kind === 'refused') return (await refusePoor(context, forwarded, SMALLEST)) ?? trial
  if (trial.kind !== 'ok') return trial
  const { resourceFee } = trial.value.simulation
  return {
    kind: 'ok',
    value: {
      payer,
      fee: bid * 2n + (resourceFee * (100n + RESOURCE_HEADROOM_PERCENT) + 99n) / 100n,
      hasMost: true,
      build: (charge) => build(context, forwarded, charge ?? SMALLEST),
    },
  }
}

/**
 * Explains a call that fails because the user has too little of the token, which the error of the contract
 * does not say.
 */
async function refusePoor(
  { client }: SponsoringContext,
  { token, payer }: Forwarding,
  { amount }: Charge,
): Promise<Answer<never> | undefined> {
  const balance = await readTokenContract(client, {
    contract: token,
    name: 'balance',
    args: [{ address: payer }],
  })
  if (balance.kind !== 'ok' || balance.value >= amount) return undefined
  return refuse(
    'insufficient_balance',
    `fee_token: the fee is at least ${amount} base units of ${token}, and ${payer} has ${balance.value}.`,
  )
}

interface Forwarded extends Forwarding {
  readonly call: InvokeContractArgs
  readonly forwarder: string
}

interface Run {
  readonly tx: Transaction
  readonly lastLedger: number
  readonly simulation: Simulation
}

/** Simulates the call and lets the node find the authorizations that it needs. */
async function run(context: SponsoringContext, forwarded: Forwarded, charge: Charge): Promise<Answer<Run>> {
  const head = await readHead(context.client)
  if (head.kind !== 'ok') return head
  const ledgers = Math.ceil((Number(VALID_SECONDS) * 1_000) / context.ledgerMs)
  const lastLedger = Number(head.value.number) + ledgers
  const tx = forward(forwarded, charge, lastLedger)
  return simulate(context, tx, {
    decide: (simulation) => ({ kind: 'ok', value: { tx, lastLedger, simulation } }),
  })
}

function forward(
  { call, forwarder, token, payer, account, until }: Forwarded,
  { amount, most }: Charge,
  lastLedger: number,
): Transaction {
  const args = [
    addressValue(token),
    i128(amount),
    i128(most),
    ScVal.scvU32(lastLedger),
    ScVal.scvAddress(call.contractAddress),
    ScVal.scvSymbol(call.functionName),
    ScVal.scvVec([...call.args]),
    addressValue(payer),
    addressValue(account.address),
  ]
  const invocation = new InvokeContractArgs({
    contractAddress: encodeScAddress(forwarder),
    functionName: FORWARD,
    args,
  })
  return new Transaction({
    sourceAccount: toMuxedAccount(account.address),
    fee: 0,
    seqNum: 0n,
    cond: withMaxTime(Preconditions.precondNone(), until),
    memo: encodeMemo(undefined),
    operations: [operationOf(invocation, [])],
    ext: TransactionExt.v0(),
  })
}

function addressValue(address: string): ScVal {
  return ScVal.scvAddress(encodeScAddress(address))
}

function operationOf(call: InvokeContractArgs, auth: readonly SorobanAuthorizationEntry[]): Operation {
  const hostFunction = HostFunction.hostFunctionTypeInvokeContract(call)
  return new Operation({
    sourceAccount: null,
    body: OperationBody.invokeHostFunction(new InvokeHostFunctionOp({ hostFunction, auth: [...auth] })),
  })
}

/**
 * Refuses a call for which more than the user, and the relayer's consent to the call of the forwarder itself,
 * is needed.
 */
async function build(
  context: SponsoringContext,
  forwarded: Forwarded,
  charge: Charge,
): Promise<Answer<SponsoredBuild>> {
  const answer = await run(context, forwarded, charge)
  if (answer.kind === 'refused') return (await refusePoor(context, forwarded, charge)) ?? answer
  if (answer.kind !== 'ok') return answer
  const { tx, lastLedger, simulation } = answer.value
  if (simulation.restore !== undefined)
    return refuse('execution_reverted', 'The call needs archived entries; restore them first.')
  const [user, ...others] = simulation.auth.filter(
    ({ credentials }) => credentials.type !== 'sorobanCredentialsSourceAccount',
  )
  const own = simulation.auth.filter(
    ({ credentials }) => credentials.type === 'sorobanCredentialsSourceAccount',
  )
  if (own.some(({ rootInvocation }) => rootInvocation.subInvocations.length > 0) || own.length > 1)
    return refuse(
      'fee_payer_at_risk',
      'The call would need an authorization of the relayer; the relayer only pays the fee.',
    )
  if (user === undefined || others.length > 0 || ownerOf(user) !== forwarded.payer)
    return refuse(
      'execution_reverted',
      `The call would need authorizations of accounts other than ${forwarded.payer}.`,
    )
  const { token, forwarder, account } = forwarded
  const paid = paidIn(simulation.events, { token, receiver: account.address })
  if (paid < charge.amount)
    return refuse(
      'payment_required',
      `The relayer would get ${paid} of ${charge.amount} base units of ${token} through its fee_forwarder ${forwarder}, so the call would not be paid for.`,
    )
  return {
    kind: 'ok',
    value: {
      transaction: closeEnvelope(tx),
      hash: hashTransaction(tx, context.passphrase).toString('hex'),
      receiver: forwarded.account.address,
      validUntil: new Date(Number(forwarded.until) * 1_000),
      userAuthEntry: expiring(user, lastLedger).toXdr('base64'),
    },
  }
}

/** The account of an authorization by one account, in either form (CAP-71); undefined for any other. */
function signerIn({ credentials }: SorobanAuthorizationEntry): SorobanAddressCredentials | undefined {
  if (credentials.type === 'sorobanCredentialsAddress') return credentials.address
  return credentials.type === 'sorobanCredentialsAddressV2' ? credentials.addressV2 : undefined
}

function ownerOf(entry: SorobanAuthorizationEntry): string | undefined {
  const signer = signerIn(entry)
  return signer && addressName(signer.address)
}

/** The node leaves the last ledger of an authorization to its signer. */
function expiring(entry: SorobanAuthorizationEntry, lastLedger: number): SorobanAuthorizationEntry {
  const signer = signerIn(entry)
  if (signer === undefined) throw new Error('the owner of the entry was checked')
  const { address, nonce, signature } = signer
  const signed = new SorobanAddressCredentials({
    address,
    nonce,
    signature,
    signatureExpirationLedger: lastLedger,
  })
  const credentials =
    entry.credentials.type === 'sorobanCredentialsAddressV2'
      ? SorobanCredentials.sorobanCredentialsAddressV2(signed)
      : SorobanCredentials.sorobanCredentialsAddress(signed)
  return new SorobanAuthorizationEntry({ credentials, rootInvocation: entry.rootInvocation })
}

/** Returns the transaction as it was built, before it was authorized. */
export function withoutAuthorization(tx: Transaction): Transaction {
  const call = callIn(tx)
  return call === undefined ? tx : withFields(tx, { operations: [operationOf(call, [])] })
}

/**
 * Adds the authorizations of the user, and of the relayer: exactly for the call of the forwarder, and for
 * nothing that it calls. So no contract can use the relayer's account, whatever the user has authorized.
 */
export function withAuthorization(xdr: string, signedEntry: string, payer: string): Answer<string> {
  const { tx } = openEnvelope(xdr)
  const call = callIn(tx)
  if (call === undefined)
    return refuse(
      'invalid_request',
      'signed_auth_entry: expected only with the call of a smart contract; sign the transaction itself.',
    )
  const entry = decode(signedEntry)
  if (entry === undefined)
    return refuse(
      'invalid_request',
      'signed_auth_entry: a SorobanAuthorizationEntry is expected, XDR in base64.',
    )
  if (ownerOf(entry) !== payer)
    return refuse('invalid_request', `signed_auth_entry: an authorization by ${payer} is expected.`)
  const consent = new SorobanAuthorizationEntry({
    credentials: SorobanCredentials.sorobanCredentialsSourceAccount(),
    rootInvocation: new SorobanAuthorizedInvocation({
      function: SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(call),
      subInvocations: [],
    }),
  })
  // After the last ledger of the authorization the call would fail at the relayer's cost, so no later ledger
  // may include it.
  const cond = withLastLedger(tx.cond, signerIn(entry)?.signatureExpirationLedger ?? 0)
  return {
    kind: 'ok',
    value: closeEnvelope(withFields(tx, { cond, operations: [operationOf(call, [entry, consent])] })),
  }
}

function decode(base64: string): SorobanAuthorizationEntry | undefined {
  try {
    return SorobanAuthorizationEntry.fromXdr(base64, 'base64')
  } catch {
    return undefined // The SDK throws: not XDR, or not of this kind.
  }
}

type RefusalCode = Extract<Answer<never>, { kind: 'refused' }>['refusal']['code']

function refuse(code: RefusalCode, detail: string): Answer<never> {
  return { kind: 'refused', refusal: { code, detail } }
}
