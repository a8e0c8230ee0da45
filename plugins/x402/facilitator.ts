import { CallError } from '../shared/call-error.ts'
import { normalized } from '../shared/fields.ts'
import { Crowded, NodeError, Unavailable, type World } from '../shared/host.ts'
import { createRefusalLog } from '../shared/refusals.ts'
import { approveFirst } from './approve.ts'
import type { Asked } from './asked.ts'
import type { Settings } from './config.ts'
import { noteResource } from './discovery.ts'
import {
  awaitInclusion,
  checkPaymentId,
  findMade,
  findTransaction,
  type Settlement,
  sendOnce,
  underPaymentId,
} from './once.ts'
import { Refusal } from './refusal.ts'
import { decodePayment, settlerOn, type Told, type Verified } from './scheme.ts'
import {
  type PaymentRequest,
  readPaymentRequest,
  SETTLEMENT,
  type SettleAnswer,
  type Step,
  type VerifyAnswer,
} from './wire.ts'

/** What `POST /verify` and `POST /settle` are asked with. */
export interface FacilitatorCall {
  readonly body: unknown
  /** The id of the API key that asks; all callers without one share another. */
  readonly caller: string
}

const logRefusal = createRefusalLog({ now: Date.now, write: (line) => console.warn(line) })

/**
 * Answers `POST /verify`. Nothing is stored and nothing is sent. @throws CallError for a misused
 * `payment-identifier`
 */
export async function verify(call: FacilitatorCall, settings: Settings, world: World): Promise<VerifyAnswer> {
  try {
    const asked = await read(call, 'verify', { settings, world })
    await checkPaymentId(asked, world)
    const { extra } = await verifyUnsent(asked, { settings, world })
    return { isValid: true, payer: asked.payment.payer, ...(extra && { extra }) }
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

async function verifyUnsent(
  asked: Asked,
  { settings, world }: { readonly settings: Settings; readonly world: World },
): Promise<Verified> {
  const { payment } = asked
  const now = world.now()
  const moment = { now, deadline: now + settings.timeoutMs }
  if (payment.isVerifiedAlone) return payment.verify(moment)
  // Both are asked at the same time. What was accepted before is told first, whatever the chain says of it
  // now.
  const [found, verified] = await Promise.allSettled([findTransaction(asked, world), payment.verify(moment)])
  const sent = settled(found)
  if (sent)
    throw new Refusal(
      'duplicate_settlement',
      `This payment is settled already, by ${sent.hash ?? sent.id}.`,
      payment.payer,
    )
  return settled(verified)
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
    const asked = await read(call, 'settle', { settings, world })
    network = asked.request.networkName
    const { payer } = asked.payment
    if (asked.payment.isVerifiedAlone)
      throw new Refusal(
        'invalid_batch_settlement_evm_payload_type',
        'payload.type: nothing is settled for a voucher. Claim it.',
        payer,
      )
    if (asked.request.scheme === 'upto' && asked.request.requirements.amount === 0n) {
      await checkUnused(asked, { settings, world })
      return { success: true, amount: '0', payer, transaction: '', network }
    }
    const { settlement: made, isNew } = await settleOnce(asked, { settings, world, deadline })
    const { settlement, told } = await tellOf(asked, made)
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
    await noteResource(asked, settings, world)
    const amount = asked.request.requirements.amount.toString()
    return { success: true, amount, ...shared, ...told }
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

/** What was made is told whole: whoever gets half of it would keep wrong books. */
async function tellOf(
  { payment }: Asked,
  settlement: Settlement,
): Promise<{ readonly settlement: Settlement; readonly told?: Told }> {
  if (settlement.kind === 'pending' || payment.tell === undefined) return { settlement }
  try {
    return { settlement, told: await payment.tell(settlement.hash) }
  } catch (error) {
    if (!(error instanceof Unavailable || error instanceof NodeError)) throw error
    const message = 'It is settled, and no node tells what the channel has now. Ask again.'
    return { settlement: { kind: 'pending', hash: settlement.hash, message } }
  }
}

/**
 * Nothing is charged, so nothing is sent. What was promised must still be good, and not be settled already.
 */
async function checkUnused(
  { request, caller }: Asked,
  { settings, world }: { readonly settings: Settings; readonly world: World },
): Promise<void> {
  const whole = { ...request, requirements: { ...request.requirements, amount: request.maximum } }
  const payment = await decodePayment(whole, await settlerOn(request.network, world), world)
  await verifyUnsent({ request: whole, payment, caller }, { settings, world })
}

async function settleOnce(
  asked: Asked,
  { settings, world, deadline }: { settings: Settings; world: World; deadline: number },
): Promise<{ readonly settlement: Settlement; readonly isNew: boolean }> {
  try {
    if (asked.payment.bringsTransaction) {
      await checkPaymentId(asked, world)
      await approveFirst(asked, { settings, world, deadline })
    }
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

async function read(
  call: FacilitatorCall,
  step: Step,
  { settings, world }: { readonly settings: Settings; readonly world: World },
): Promise<Asked> {
  const request = readPaymentRequest(call.body, step, settings)
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
