import { afterEach, describe, expect, test } from 'vitest'
import {
  type Behaviour,
  type FaultAnswer,
  type FaultProxy,
  PASS,
} from '../../../simulators/key-services/fault-proxy.ts'
import type { Key } from '../../../src/signers/key.ts'
import type { CallLimits } from '../../../src/signers/remote/call.ts'

import { signEvm } from './conformance.ts'

/** A type of signer whose key another service holds, with the failures of that service. */
export interface RemoteSubject {
  readonly name: string
  /** Connects again, with the limits of the tests, through the proxy. */
  readonly open: (limits: CallLimits) => Promise<Key>
  readonly proxy: () => FaultProxy
  /** The answers of the service: too many calls, and a call that is not allowed. */
  readonly throttled: FaultAnswer
  readonly denied: FaultAnswer
  /** Makes the service sign something else. Absent if the service does not sign. */
  readonly foreign?: (request: string) => string
  /** True where the key signs in this process once it was read. */
  readonly isCached?: boolean
}

/** The machine of the tests can be slow, so only a service that hangs gets a short time. */
const PATIENT = { timeoutMs: 10_000, concurrency: 8 }
const SHORT = { timeoutMs: 150, concurrency: 8 }

/** The delay of a slow service, in ms. */
const SLOW_MS = 100

/** Defines a test only where it applies. */
const testIf = (applies: boolean) => (applies ? test : () => undefined)

const PAYLOAD = new Uint8Array(32).fill(7)

/** Checks that a service outside can delay and refuse signatures, and nothing else. */
export function describeRemoteConformance(subject: RemoteSubject): void {
  const { name, open, proxy, throttled, denied, foreign, isCached = false } = subject
  const sign = ({ evm, solana }: Key) => (evm ? signEvm(evm, PAYLOAD) : solana?.sign(PAYLOAD))
  const check = ({ evm, solana }: Key) => (evm ?? solana)?.check?.()
  const failure = async (work: Promise<unknown> | undefined) => {
    const error = await work?.then(
      () => undefined,
      (thrown: unknown) => thrown as { code?: string; detail?: string },
    )
    return { code: error?.code, detail: error?.detail ?? '' }
  }
  /** Opens the key while the service is well, and then sets its behaviour. */
  async function openThen(behaviour: Behaviour, times?: number): Promise<Key> {
    const key = await open(behaviour.kind === 'hang' ? SHORT : PATIENT)
    proxy().behave(behaviour, times)
    return key
  }

  afterEach(() => proxy().behave(PASS))

  describe(`the service of a signer of the type ${name}`, () => {
    test.each<[string, Behaviour]>([
      ['hangs', { kind: 'hang' }],
      ['closes the connection', { kind: 'refuse' }],
      ['answers garbage', { kind: 'answer', answer: { status: 200, body: '<html>not json</html>' } }],
      ['answers an empty object', { kind: 'answer', answer: { status: 200, body: '{}' } }],
      ['has a fault', { kind: 'answer', answer: { status: 500, body: '{"message":"fault"}' } }],
      ['is throttled for long', { kind: 'answer', answer: throttled }],
    ])(
      '%s: nothing is signed, the caller can try again, and afterwards it signs',
      async (_what, behaviour) => {
        const key = await openThen(behaviour)
        const [failed, health] = await Promise.all([failure(sign(key)), check(key)])
        if (!isCached) expect(failed).toMatchObject({ code: 'signer_unavailable' })
        expect(health).toMatchObject({ kind: 'unknown' })
        proxy().behave(PASS)
        const again = behaviour.kind === 'hang' ? await open(PATIENT) : key
        expect(await sign(again)).toBeDefined()
        expect(await check(again)).toEqual({ kind: 'ok' })
      },
    )

    test('throttles for a moment, or drops one connection: the call is repeated', async () => {
      for (const behaviour of [{ kind: 'answer', answer: throttled }, { kind: 'refuse' }] as const) {
        const key = await openThen(behaviour, 2)
        expect(await sign(key)).toBeDefined()
      }
    })

    test('is slow: the signature arrives', async () => {
      const key = await openThen({ kind: 'slow', ms: SLOW_MS })
      expect(await sign(key)).toBeDefined()
    })

    test('denies the key: the refusal names it, and the key counts as refused until it signs again', async () => {
      const key = await openThen({ kind: 'answer', answer: denied })
      if (!isCached) {
        const refusal = await failure(sign(key))
        expect(refusal.code).toBe('signer_refused')
        expect(refusal.detail).toMatch(/^signer "tested": .* (is denied|the login .* failed)/)
      }
      expect(await check(key)).toMatchObject({ kind: 'refused', detail: expect.stringContaining('"tested"') })
      proxy().behave(PASS)
      expect(await check(key)).toEqual({ kind: 'ok' })
    })

    testIf(!isCached)('gets no more calls at once than the limit', async () => {
      const key = await openThen({ kind: 'slow', ms: 20 })
      const payloads = Array.from({ length: 40 }, (_, index) => new Uint8Array(32).fill(index + 1))
      await Promise.all(
        payloads.map((payload) => (key.evm ? signEvm(key.evm, payload) : key.solana?.sign(payload))),
      )
      expect(proxy().most()).toBe(PATIENT.concurrency)
    })

    testIf(foreign !== undefined)('signs something else: the signature does not leave', async () => {
      const key = await openThen({ kind: 'rewrite', request: foreign ?? String })
      const refusal = await failure(sign(key))
      expect(refusal.code).toBe('signer_refused')
      expect(refusal.detail).toContain('does not verify against its public key')
    })

    testIf(!isCached)('is asked once for equal content', async () => {
      const key = await open(PATIENT)
      // The first call can include a login.
      const other = new Uint8Array(32).fill(99)
      await (key.evm ? signEvm(key.evm, other) : key.solana?.sign(other))
      const before = proxy().count()
      await Promise.all([sign(key), sign(key), sign(key)])
      await sign(key)
      expect(proxy().count() - before).toBe(1)
    })
  })
}
