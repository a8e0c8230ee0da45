import type { RpcCall } from './rpc.ts'

/** The most that is read of an answer. */
export interface AnswerLimits {
  readonly bytes: number
  /** The most JSON values. They bound the memory and the time of parsing. */
  readonly values: number
}

/** The limits of answers to the service's own questions, where a chain does not name larger ones for a method. */
const OWN_ANSWER: AnswerLimits = { bytes: 1024 * 1024, values: 100_000 }

/** The limits of everything that one `…/rpc` request of an API caller is answered with. The contract documents the bytes. */
const FORWARDED_ANSWER: AnswerLimits = { bytes: 8 * 1024 * 1024, values: 250_000 }

/** No answer is longer than this, in bytes, whatever the question. */
export const MAX_ANSWER_BYTES = 24 * 1024 * 1024

/** The first bytes of an answer that do not count for the memory of all: answers to most questions are shorter. */
export const FREE_ANSWER_BYTES = 64 * 1024

/** Traces of deep calls nest two levels for each call; parsers that keep the spelling of numbers overflow the stack at some thousand levels. */
export const MAX_DEPTH = 512

/** The limits of the answers to one request, which may take several HTTP requests. */
export interface AnswerAllowance {
  limitsFor(calls: readonly RpcCall[]): AnswerLimits
  /** Records what an answer held. */
  spend(answer: AnswerLimits): void
}

/** Creates the allowance of the service's own questions: an HTTP request may be answered with as much as its largest method allows. */
export function ownAllowance(largeAnswers: Readonly<Record<string, AnswerLimits>>): AnswerAllowance {
  const limitsOf = ({ method }: RpcCall) => largeAnswers[method] ?? OWN_ANSWER
  return {
    limitsFor: (calls) =>
      calls.map(limitsOf).reduce(
        (most, { bytes, values }) => ({
          bytes: Math.max(most.bytes, bytes),
          values: Math.max(most.values, values),
        }),
        OWN_ANSWER,
      ),
    spend: () => {},
  }
}

/** Creates the allowance of a caller's request. Its answers share it, because the service holds them all until it answers the caller. */
export function forwardedAllowance(): AnswerAllowance {
  let left = FORWARDED_ANSWER
  return {
    limitsFor: () => left,
    spend: ({ bytes, values }) => {
      left = { bytes: Math.max(0, left.bytes - bytes), values: Math.max(0, left.values - values) }
    },
  }
}
