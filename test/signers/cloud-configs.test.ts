import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readSigners } from '../../src/config/entries.ts'
import { openReader } from '../../src/lib/fields.ts'
import { deepFreeze } from '../../src/lib/object.ts'
import { describeSigner } from '../../src/signers/providers/registry.ts'
import { readRequestedConfig, type StorableType } from '../../src/signers/providers/sealed-config.ts'

/** A type of signer, its configuration as requests write it, and the part that everyone may see. */
interface Described {
  readonly type: StorableType
  readonly config: Record<string, unknown>
  /** The paths of the secrets, which files refer to. */
  readonly secrets: readonly string[]
  readonly shown: object
}

const CASES: readonly Described[] = [
  {
    type: 'google_cloud_kms',
    config: {
      service_account: {
        project_id: 'payments',
        private_key_id: 'secret-1',
        private_key: 'secret-2',
        client_email: 'secret-3',
        client_id: '1',
        auth_uri: 'https://accounts.google.com/o/oauth2/auth',
        token_uri: 'https://oauth2.googleapis.com/token',
        auth_provider_x509_cert_url: 'https://www.googleapis.com/oauth2/v1/certs',
        client_x509_cert_url: 'https://www.googleapis.com/robot/v1/metadata/x509/relayer',
        universe_domain: 'googleapis.com',
      },
      key: { key_ring_id: 'relayer', key_id: 'hot' },
    },
    secrets: [
      'service_account.private_key_id',
      'service_account.private_key',
      'service_account.client_email',
    ],
    shown: {
      key: {
        project_id: 'payments',
        location: 'global',
        key_ring_id: 'relayer',
        key_id: 'hot',
        key_version: 1,
      },
    },
  },
  {
    type: 'azure_key_vault',
    config: {
      auth_type: 'client_secret',
      tenant_id: '11111111-2222-3333-4444-555555555555',
      client_id: '99999999-8888-7777-6666-555555555555',
      client_secret: 'secret-1',
      vault_url: 'https://payments.vault.azure.net/',
      key_name: 'relayer',
      key_version: 'abc',
    },
    secrets: ['client_secret'],
    shown: {
      auth_type: 'client_secret',
      vault_url: 'https://payments.vault.azure.net',
      key_name: 'relayer',
      key_version: 'abc',
    },
  },
  {
    type: 'turnkey',
    config: {
      api_public_key: '026b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296',
      api_private_key: 'secret-1',
      organization_id: 'organization',
      private_key_id: 'key',
      public_key: '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
    },
    secrets: ['api_private_key'],
    shown: {
      api_public_key: '026b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296',
      organization_id: 'organization',
      private_key_id: 'key',
      public_key: '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
    },
  },
  {
    type: 'cdp',
    config: {
      api_key_id: 'key',
      api_key_secret: 'secret-1',
      wallet_secret: 'secret-2',
      account_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    },
    secrets: ['api_key_secret', 'wallet_secret'],
    shown: { api_key_id: 'key', account_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
  },
  {
    type: 'cdp',
    config: {
      api_key_id: 'key',
      api_key_secret: 'secret-1',
      wallet_secret: 'secret-2',
      account_address: '9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu',
    },
    secrets: ['api_key_secret', 'wallet_secret'],
    shown: { api_key_id: 'key', account_address: '9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu' },
  },
]

/** Replaces each secret by a reference, as files have it. */
function toFile(config: Record<string, unknown>, secrets: readonly string[], path = ''): object {
  const entries = Object.entries(config).map(([key, value]) => {
    if (secrets.includes(path + key)) return [key, { type: 'plain', value }]
    const inner = value as Record<string, unknown>
    return [key, typeof value === 'object' ? toFile(inner, secrets, `${path}${key}.`) : value]
  })
  return Object.fromEntries(entries)
}

function fromFile(type: string, config: object) {
  const problems: string[] = []
  const file = openReader({ signers: [{ id: 'tested', type, config }] }, '', problems)
  const sources = { env: {}, folder: '/', cwd: '/', referred: new Set<string>() }
  const [signer] = file ? readSigners(file, sources, problems) : []
  return { signer, problems }
}

describe.each(CASES)('a configuration of $type', ({ type, config, secrets, shown }) => {
  test('has the shape of OpenZeppelin Relayer in the file, and hides its secrets', () => {
    const { signer, problems } = fromFile(type, toFile(config, secrets))
    expect(problems).toEqual([])
    if (signer === undefined) throw new Error('there is no signer')
    expect(describeSigner(signer)).toEqual({ id: 'tested', type, config: shown })
    expect(JSON.stringify(signer)).not.toContain('secret-')
    // The configuration of a service is frozen as a whole.
    expect(Object.isFrozen(deepFreeze(signer))).toBe(true)
  })

  test('has the same shape in a request', () => {
    const problems: string[] = []
    const signer = readRequestedConfig('tested', { type, config }, { path: 'body.config', problems })
    expect(problems).toEqual([])
    expect(signer && describeSigner(signer).config).toEqual(shown)
    expect(JSON.stringify(signer)).not.toContain('secret-')
  })
})

test('a key in PEM is read from a file with all of its lines, and any other secret from the first line', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-pem-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const pem = '-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----\n'
  const read = async (content: string) => {
    const value = join(folder, 'secret')
    await writeFile(value, content)
    const { signer } = fromFile('plain', { key: { type: 'file', value } })
    return signer?.type === 'plain' ? signer.key.reveal() : undefined
  }
  expect(await read(pem)).toBe(pem)
  expect(await read('first\nsecond\n')).toBe('first')
})

describe('the url of a vault', () => {
  test.each([
    'http://payments.vault.azure.net',
    'https://payments.vault.azure.net.example.com',
    'https://example.com/.vault.azure.net',
    'https://payments.vault.azure.net:8443',
    'https://vault.azure.net',
    'https://xn--a.vault.azure.net',
  ])('%s is refused', (url) => {
    const config = { auth_type: 'managed_identity', vault_url: url, key_name: 'relayer' }
    expect(fromFile('azure_key_vault', config).problems).toEqual([
      'signers[0].config.vault_url must be the url of a vault, such as https://payments.vault.azure.net',
    ])
  })
})

describe('problems of nested objects', () => {
  test.each<[string, object, string[]]>([
    ['without the object', {}, ['signers[0].config has no "key"']],
    ['with another value in its place', { key: 'hot' }, ['signers[0].config.key must be an object']],
    [
      'without a field, and with an unknown one',
      { key: { project_id: 'payments', key_ring_id: 'relayer', key: 'hot' } },
      [
        'signers[0].config.key.key_id is missing: it must be a non-empty text',
        'signers[0].config.key.key is not known',
      ],
    ],
    [
      'without a project and an account',
      { key: { key_ring_id: 'relayer', key_id: 'hot' } },
      ['signers[0].config.key.project_id is missing: it must be a non-empty text'],
    ],
  ])('%s', (_what, config, expected) => {
    expect(fromFile('google_cloud_kms', config).problems).toEqual(expected)
  })
})
