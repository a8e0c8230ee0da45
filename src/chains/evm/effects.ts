import type { Hex } from 'viem'
import { decodeFunctionData, parseAbi } from 'viem/utils'
import { CONTRACT_CREATION, type Effects, NATIVE, sumAmounts, type UnreadCall } from '../effects.ts'
import type { EvmRequest } from './content.ts'

/** The calls of a token (ERC-20) that move the caller's amounts, or allow others to take them. */
const TOKEN = parseAbi([
  'function transfer(address receiver, uint256 amount)',
  'function approve(address receiver, uint256 amount)',
  'function transferFrom(address from, address receiver, uint256 amount)',
])

/** The selectors of those calls. */
const APPROVE = '0x095ea7b3'
const SELECTORS: ReadonlySet<string> = new Set(['0xa9059cbb', APPROVE, '0x23b872dd'])

/** The characters of `0x` and four bytes. */
const SELECTOR_CHARACTERS = 10

/** Gives the effects of a request. What a contract does with the native currency it receives is not known, so the contract is the receiver. */
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
  const moved = readTokenCall(selector, call as Hex)
  const receivers = [...(value > 0n ? [target] : []), ...(moved === undefined ? [] : [moved.receiver])]
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
  const isMalformed = SELECTORS.has(selector)
  return { target: isMalformed ? `malformed call of ${target}` : target, asset: target }
}

function native(value: bigint) {
  return sumAmounts([{ asset: NATIVE, value }])
}

interface TokenCall {
  /** In lower case. */
  readonly receiver: string
  readonly amount: bigint
}

/** Contracts ignore bytes behind the arguments, and so does this; too few bytes are no call of a token. */
function readTokenCall(selector: string, data: Hex): TokenCall | undefined {
  if (!SELECTORS.has(selector)) return undefined
  try {
    const { args } = decodeFunctionData({ abi: TOKEN, data })
    const [receiver, amount] = args.length === 3 ? [args[1], args[2]] : args
    return { receiver: receiver.toLowerCase(), amount }
  } catch {
    return undefined
  }
}
