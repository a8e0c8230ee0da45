import { createHmac } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { KoraClient } from '@solana/kora/dist/src/client.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KORA_KEY, type Paymaster, type Reply, startPaymaster } from './paymaster.ts'

const SECRET = 'a-secret-of-hmac-of-the-app'
const OTHER_SECRET = 'a-secret-of-hmac-of-another'
const SITE_SECRET = 'the-secret-of-the-site'

let paymaster: Paymaster
let site: Site
beforeAll(async () => {
  site = await startSite()
  const signed = { raw_body: true, forward_headers: ['x-timestamp', 'x-hmac-signature', 'x-api-key'] }
  const recaptcha = { secret_env: 'SITE', verify_url_env: 'SITE_URL', score_threshold: 0.5 }
  const person = { env: ['SITE', 'SITE_URL'], forward_headers: ['x-recaptcha-token'] }
  paymaster = await startPaymaster({
    plugins: {
      signed: {
        config: { hmac: { secrets_env: 'KORA_HMAC', max_age_seconds: 60 } },
        more: { ...signed, env: ['KORA_HMAC'] },
      },
      both: {
        config: { hmac: { secrets_env: 'KORA_HMAC' }, api_keys_env: 'KORA_KEYS' },
        more: { ...signed, env: ['KORA_HMAC', 'KORA_KEYS'] },
      },
      blind: {
        config: { hmac: { secrets_env: 'KORA_HMAC' } },
        more: { ...signed, raw_body: false, env: ['KORA_HMAC'] },
      },
      people: { config: { recaptcha }, more: person },
      unreachable: {
        config: { recaptcha: { ...recaptcha, verify_url_env: 'NOWHERE' } },
        more: { ...person, env: ['SITE', 'NOWHERE'] },
      },
    },
    env: {
      KORA_HMAC: `app:${SECRET},other:${OTHER_SECRET}`,
      SITE: SITE_SECRET,
      SITE_URL: site.url,
      NOWHERE: 'http://127.0.0.1:9/',
    },
  })
}, 120_000)
afterAll(async () => {
  await paymaster?.stop()
  site?.server.close()
})

/** A stand-in of the check of reCAPTCHA's tokens: each token `score=…` is good once. */
interface Site {
  readonly url: string
  readonly server: Server
}

async function startSite(): Promise<Site> {
  const used = new Set<string>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const fields = new URLSearchParams(Buffer.concat(chunks).toString())
    const token = fields.get('response') ?? ''
    const [, score] = /^score=([0-9.]+)/.exec(token) ?? []
    const success = fields.get('secret') === SITE_SECRET && score !== undefined && !used.has(token)
    used.add(token)
    response.end(JSON.stringify({ success, ...(success && { score: Number(score) }) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/siteverify` }
}

async function post(name: string, body: string, headers: Record<string, string>): Promise<Reply> {
  const response = await fetch(`${paymaster.service.url}/${name}/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  return (await response.json()) as Reply
}

function signature(time: string, body: string, secret = SECRET): Record<string, string> {
  const digest = createHmac('sha256', secret).update(`${time}${body}`).digest('hex')
  return { 'x-timestamp': time, 'x-hmac-signature': digest }
}

const now = () => Math.floor(Date.now() / 1000)
const ASKED = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getPayerSigner' })
const UNAUTHORIZED = { error: { code: -32_032, data: { error_type: 'Unauthorized' } } }

describe('a request that must be signed', () => {
  const clientOf = (name: string, options: { hmacSecret?: string; apiKey?: string }) =>
    new KoraClient({ rpcUrl: `${paymaster.service.url}/${name}/rpc`, ...options })

  test('is answered for the client of npm with the secret, and for no other', async () => {
    expect(await clientOf('signed', { hmacSecret: SECRET }).getConfig()).toMatchObject({
      fee_payers: [paymaster.relayer],
    })
    for (const options of [{ hmacSecret: `${SECRET}x` }, { apiKey: KORA_KEY }, {}])
      await expect(clientOf('signed', options).getConfig()).rejects.toThrow('RPC Error -32032')
  })

  test('is checked by the bytes of its body, however they are written', async () => {
    const spaced = `${ASKED.slice(0, -1)} ,\n "params": { "a": 1.0 } }`
    const time = `${now()}`
    expect((await post('signed', spaced, signature(time, spaced))).error).toBeUndefined()
    const same = JSON.stringify(JSON.parse(spaced))
    expect(await post('signed', same, signature(time, spaced))).toMatchObject(UNAUTHORIZED)
  })

  test.each<[string, () => Record<string, string>]>([
    ['a time long ago', () => signature(`${now() - 61}`, ASKED)],
    ['a time to come', () => signature(`${now() + 70}`, ASKED)],
    ['another time', () => ({ ...signature(`${now() - 1}`, ASKED), 'x-timestamp': `${now()}` })],
    ['a time that is none', () => signature('soon', ASKED)],
    ['no time', () => ({ 'x-hmac-signature': signature('', ASKED)['x-hmac-signature'] ?? '' })],
    ['an empty signature', () => ({ 'x-timestamp': `${now()}`, 'x-hmac-signature': '' })],
  ])('is refused with %s', async (_, headers) => {
    expect(await post('signed', ASKED, headers())).toMatchObject(UNAUTHORIZED)
  })

  test('has the same answer when someone who saw it sends it again, and counts once', async () => {
    const user = await paymaster.user()
    const before = await paymaster.balance(paymaster.relayer)
    const params = { transaction: paymaster.transaction(user, [user.pay()]) }
    const bodyOf = (method: string) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const sent = bodyOf('signAndSendTransaction')
    const headers = signature(`${now()}`, sent)
    const answers = await Promise.all([1, 2, 3].map(() => post('signed', sent, headers)))
    expect(answers[0]?.error).toBeUndefined()
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(await paymaster.balance(paymaster.relayer)).toBe(before + 1_515n)
    const other = bodyOf('signTransaction')
    expect(await post('signed', other, headers)).toMatchObject(UNAUTHORIZED)
  })

  test('needs the key and the signature of the same application where both are asked for', async () => {
    const client = (hmacSecret: string, apiKey: string) =>
      clientOf('both', { hmacSecret, apiKey }).getConfig()
    expect(await client(SECRET, KORA_KEY)).toBeDefined()
    await expect(client(OTHER_SECRET, KORA_KEY)).rejects.toThrow('two callers')
    await expect(clientOf('both', { hmacSecret: SECRET }).getConfig()).rejects.toThrow('x-api-key')
  })

  test('is told what the entry of the plugin lacks', async () => {
    const reply = await post('blind', ASKED, signature(`${now()}`, ASKED))
    expect(reply).toMatchObject({ error: { code: -32_091, message: expect.stringContaining('raw_body') } })
  })
})

describe('a method that only persons may call', () => {
  const sign = (headers: Record<string, string>, name = 'people') =>
    post(
      name,
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'signTransaction', params: { transaction: 'AQAB' } }),
      headers,
    )
  const refusal = (says: RegExp) => ({
    error: { code: -32_061, message: expect.stringMatching(says), data: { error_type: 'RecaptchaError' } },
  })

  test('is answered with a token, once for each', async () => {
    const token = { 'x-recaptcha-token': 'score=0.9' }
    expect(await sign(token)).toMatchObject({ error: { code: -32_000 } })
    expect(await sign(token)).toMatchObject(refusal(/not valid, or was used/))
  })

  test('is refused without a token, with a bad one, with a low score, and where it cannot be checked', async () => {
    expect(await sign({})).toMatchObject(refusal(/token is missing/))
    expect(await sign({ 'x-recaptcha-token': 'x' })).toMatchObject(refusal(/not valid/))
    expect(await sign({ 'x-recaptcha-token': 'score=0.4' })).toMatchObject(refusal(/too low/))
    expect(await sign({ 'x-recaptcha-token': 'score=0.9' }, 'unreachable')).toMatchObject(refusal(/now/))
  })

  test('is one of those that sign; the others need no token', async () => {
    expect((await post('people', ASKED, {})).error).toBeUndefined()
  })
})
