import { normalized } from '../shared/fields.ts'
import { Crowded, NodeError, Unavailable, type World } from '../shared/host.ts'
import { createRefusalLog } from '../shared/refusals.ts'
import type { Asked } from './asked.ts'
import type { NetworkSettings, Settings } from './config.ts'
import {
  awaitInclusion,
  checkPaymentId,
  findMade,
  findTransaction,
  type Settlement,
  sendOnce,
  underPaymentId,
} from './once.ts'
import { CallError, Refusal } from './refusal.ts'
import { decodePayment, readProblem, settlerOn } from './scheme.ts'
import {
  NETWORKS_OF_VERSION_1,
  PAYMENT_IDENTIFIER,
  type PaymentRequest,
  readPaymentRequest,
  SETTLEMENT,
  type SettleAnswer,
  type VerifyAnswer,
} from './wire.ts'

/** What `POST /verify` and `POST /settle` are asked with. */
export interface FacilitatorCall {
  readonly body: unknown
  /** The id of the API key that asks; all callers without one share another. */
  readonly caller: string
}

const logRefusal = createRefusalLog({ now: Date.now, write: (line) => console.warn(line) })

/** The longest that one network may keep the answer about the others. */
const SUPPORTED_MS = 5_000

/**
 * Answers `GET /supported`: what is settled on which networks, and from which addresses. A network on which
 * nothing can be settled now is named with the reason, and touches no other.
 */
export async function supported(settings: Settings, world: World): Promise<object> {
  const found = await Promise.all(
    [...settings.networks.values()].map(async (each) => {
      const late = world
        .sleep(SUPPORTED_MS)
        .then(() => ({ reason: `Nothing answers within ${SUPPORTED_MS / 1000} s.` }))
      const state = await Promise.race([stateOf(each, world), late])
      return { ...each, ...state }
    }),
  )
  const networks = found.flatMap((each) => ('address' in each ? [each] : []))
  const unavailable = found.flatMap((each) =>
    'reason' in each ? [{ network: each.network, reason: each.reason }] : [],
  )
  const signers: Record<string, string[]> = {}
  for (const { family, address } of networks) {
    const pattern = `${family}:*`
    signers[pattern] = [...new Set([...(signers[pattern] ?? []), address])]
  }
  const kinds = networks.flatMap((each) => kindsOf(each))
  return {
    kinds,
    extensions: [PAYMENT_IDENTIFIER],
    signers,
    ...(unavailable.length > 0 && { unavailable }),
  }
}

async function stateOf(
  network: NetworkSettings,
  world: World,
): Promise<{ readonly address: string } | { readonly reason: string }> {
  try {
    const reason = await readProblem(network, world)
    return reason === undefined ? { address: (await settlerOn(network, world)).address } : { reason }
  } catch (error) {
    if (error instanceof Unavailable) return { reason: `The network does not answer: ${error.message}` }
    // What is wrong with the configuration is the operator's business.
    console.error(error)
    return { reason: 'It is not configured correctly. The log has the reason.' }
  }
}

function kindsOf(network: NetworkSettings & { readonly address: string }) {
  const extra = { eip155: {}, solana: { feePayer: network.address }, stellar: { areFeesSponsored: true } }[
    network.family
  ]
  const kind = { scheme: 'exact', ...(network.family === 'eip155' ? {} : { extra }) }
  const names = Object.entries(NETWORKS_OF_VERSION_1).filter(([, name]) => name === network.network)
  return [
    { x402Version: 2, network: network.network, ...kind },
    ...names.map(([name]) => ({ x402Version: 1, network: name, ...kind })),
  ]
}

/**
 * Answers `POST /verify`. Nothing is stored and nothing is sent. @throws CallError for a misused
 * `payment-identifier`
 */
export async function verify(call: FacilitatorCall, settings: Settings, world: World): Promise<VerifyAnswer> {
  try {
    const asked = await read(call, settings, world)
    await checkPaymentId(asked, world)
    const { payment } = asked
    const now = world.now()
    // Both are asked at the same time. What was accepted before is told first, whatever the chain says of it
    // now.
    const [found, verified] = await Promise.allSettled([
      findTransaction(asked, world),
      payment.verify({ now, deadline: now + settings.timeoutMs }),
    ])
    const sent = settled(found)
    if (sent)
      throw new Refusal(
        'duplicate_settlement',
        `This payment is settled already, by ${sent.hash ?? sent.id}.`,
        payment.payer,
      )
    settled(verified)
    return { isValid: true, payer: payment.payer }
  } catch (error) {
    const { reason, message, payer } = toRefusal(error, 'unexpected_verify_error')
    logRefusal(reason, message)
    return {
      isValid: false,
      invalidReason: reason,
      invalidMessage: message,
      ...(payer !== undefined && { payer }),
    }
  }
}

function settled<Value>(result: PromiseSettledResult<Value>): Value {
  if (result.status === 'rejected') throw result.reason
  return result.value
}

/**
 * Answers `POST /settle`: the same payment gets the same transaction and, when that is final, the same
 * answer.
 * @throws CallError for a misused `payment-identifier`
 */
export async function settle(call: FacilitatorCall, settings: Settings, world: World): Promise<SettleAnswer> {
  const deadline = world.now() + settings.timeoutMs
  let network = networkNameIn(call.body)
  try {
    const asked = await read(call, settings, world)
    network = asked.request.networkName
    const { settlement, isNew } = await settleOnce(asked, { settings, world, deadline })
    const { payer } = asked.payment
    const shared = {
      payer,
      transaction: settlement.hash,
      network,
      extensions: { [SETTLEMENT]: { repeated: !isNew } },
    }
    if (settlement.kind === 'pending')
      return {
        success: false,
        errorReason: 'settlement_pending',
        errorMessage: settlement.message,
        ...shared,
      }
    return { success: true, amount: asked.request.requirements.amount.toString(), ...shared }
  } catch (error) {
    const { reason, message, payer } = toRefusal(error, 'unexpected_settle_error')
    logRefusal(reason, message)
    return {
      success: false,
      errorReason: reason,
      errorMessage: message,
      ...(payer !== undefined && { payer }),
      transaction: '',
      network,
    }
  }
}

async function settleOnce(
  asked: Asked,
  { settings, world, deadline }: { settings: Settings; world: World; deadline: number },
): Promise<{ readonly settlement: Settlement; readonly isNew: boolean }> {
  try {
    const { transaction: sent, isNew } = await underPaymentId(
      asked,
      { keepSeconds: settings.idSeconds, world },
      () => sendOnce(asked, { settings, world, deadline }),
    )
    checkAge(asked, { createdAt: Date.parse(sent.created_at), hash: sent.hash }, settings, world)
    return { settlement: await awaitInclusion({ asked, sent, deadline }, settings, world), isNew }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { repeatMs } = settings
    return { settlement: await findMade(asked, error, { repeatMs, world }), isNew: false }
  }
}

async function read(call: FacilitatorCall, settings: Settings, world: World): Promise<Asked> {
  const request = readPaymentRequest(call.body, settings)
  checkAllowed(request, settings)
  const payment = await decodePayment(request, await settlerOn(request.network, world), world)
  return { request, payment, caller: call.caller }
}

function checkAllowed(
  { network, requirements: { asset, payTo } }: PaymentRequest,
  { payees }: Settings,
): void {
  if (network.assets && !network.assets.has(normalized(asset)))
    throw new Refusal(
      'unsupported_asset',
      `paymentRequirements.asset: ${asset.slice(0, 100)} is not settled here.`,
    )
  if (payees && !payees.has(normalized(payTo)))
    throw new Refusal(
      'payee_not_allowed',
      `paymentRequirements.payTo: payments to ${payTo.slice(0, 100)} are not settled here.`,
    )
}

/** A server that settles before it verifies would serve an old payment again, if that still got a success. */
function checkAge(
  { payment }: Asked,
  { createdAt, hash }: { createdAt: number; hash: string | undefined },
  { repeatMs }: Settings,
  world: World,
): void {
  if (repeatMs === undefined || world.now() - createdAt <= repeatMs) return
  const message = `This payment was accepted more than ${repeatMs / 1000} seconds ago; its transaction is ${hash ?? 'unsigned'}.`
  throw new Refusal('duplicate_settlement', message, payment.payer)
}

/** Errors that nobody expected say nothing to callers; the host logs them. */
function toRefusal(
  error: unknown,
  unexpected: 'unexpected_verify_error' | 'unexpected_settle_error',
): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof CallError) throw error
  if (error instanceof Crowded) return new Refusal(unexpected, error.message)
  if (error instanceof Unavailable || error instanceof NodeError)
    return new Refusal(
      unexpected,
      'The network or the relayer does not answer now. Ask again: a payment is sent only once.',
    )
  throw error
}

function networkNameIn(body: unknown): string {
  const { paymentRequirements } = (body ?? {}) as { paymentRequirements?: { network?: unknown } }
  const network = paymentRequirements?.network
  return typeof network === 'string' ? network.slice(0, 100) : ''
}
