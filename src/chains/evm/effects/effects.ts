import type { Hex } from 'viem'
import { CONTRACT_CREATION, type Effects, NATIVE, sumAmounts, type UnreadCall } from '../../effects.ts'
import type { EvmRequest } from '../content.ts'
import { APPROVE, isErc20Call, readErc20Call, SELECTOR_CHARACTERS } from './transfers.ts'

/**
 * Gives the effects of a request. What a contract does with the native currency it receives is not known, so
 * the contract is the receiver.
 */
export function evmEffects({ authorizationList, ...request }: EvmRequest, from: string): Effects {
  const effects = contentEffects(request, from.toLowerCase())
  if (authorizationList === undefined) return effects
  // The contracts run on behalf of other accounts, with unknown effects.
  const delegates = [...new Set(authorizationList.map(({ address }) => address.toLowerCase()))]
  return {
    ...effects,
    contracts: [...new Set([...effects.contracts, ...delegates])],
    unread: [...effects.unread, ...delegates.map((target) => ({ target }))],
  }
}

function contentEffects(
  { to, value, data = '0x' }: Omit<EvmRequest, 'authorizationList'>,
  from: string,
): Effects {
  // The stored code runs immediately, and can pass on what it receives.
  if (to === undefined) {
    const receivers = value > 0n ? [CONTRACT_CREATION] : []
    return { ...NONE, receivers, contracts: [CONTRACT_CREATION], amounts: native(value) }
  }
  const target = to.toLowerCase()
  if (data === '0x') return { ...NONE, receivers: [target], amounts: native(value) }
  const call = data.toLowerCase()
  // A delegated account (EIP-7702) has code, which acts in its name when it is called.
  if (target === from)
    return {
      ...NONE,
      receivers: [target],
      contracts: [target],
      selectors: [call.slice(0, SELECTOR_CHARACTERS)],
      amounts: native(value),
      unread: [{ target }],
    }
  const selector = call.slice(0, SELECTOR_CHARACTERS)
  const moved = readErc20Call(call as Hex)
  const receivers = [
    ...(value > 0n ? [target] : []),
    ...(moved === undefined ? [] : [moved.to.toLowerCase()]),
  ]
  return {
    ...NONE,
    receivers: [...new Set(receivers)],
    contracts: [target],
    selectors: [selector],
    amounts: sumAmounts([
      { asset: NATIVE, value },
      ...(moved === undefined ? [] : [{ asset: target, value: moved.amount }]),
    ]),
    ...(moved && selector === APPROVE && { allowances: [{ asset: target, value: moved.amount }] }),
    unread: moved === undefined ? [unreadCall(target, selector)] : [],
  }
}

const NONE: Effects = {
  receivers: [],
  contracts: [],
  selectors: [],
  operations: [],
  amounts: [],
  allowances: [],
  unread: [],
}

/** A token may interpret arguments that are too short in its own way, so such a call cannot be trusted. */
function unreadCall(target: string, selector: string): UnreadCall {
  const isMalformed = isErc20Call(selector)
  return { target: isMalformed ? `malformed call of ${target}` : target, asset: target }
}

function native(value: bigint) {
  return sumAmounts([{ asset: NATIVE, value }])
}
