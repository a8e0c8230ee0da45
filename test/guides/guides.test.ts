import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

const PAGES = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'clients/typescript/README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

/** The targets of links and pictures, without code. */
function linksOf(page: string): string[] {
  const text = read(page)
    .replaceAll(/```[\s\S]*?```/g, '')
    .replaceAll(/`[^`\n]*`/g, 'code')
  const written = [...text.matchAll(/\]\(([^)\s]+)\)/g), ...text.matchAll(/(?:src|srcset|href)="([^"]+)"/g)]
  return written.flatMap(([, target = '']) => (/^[a-z]+:/.test(target) ? [] : [target]))
}

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')
}

function anchorsOf(path: string): string[] {
  return [...readFileSync(path, 'utf8').matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
    anchorOf(heading),
  )
}

/** The reason why a link leads nowhere; undefined if it leads somewhere. */
function deadEnd(page: string, target: string): string | undefined {
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? join(ROOT, page) : resolve(ROOT, dirname(page), path)
  if (!existsSync(file)) return `${page}: ${target} leads to no file`
  if (relative(ROOT, file).startsWith('..')) return `${page}: ${target} leaves the repository`
  if (anchor !== undefined && !anchorsOf(file).includes(anchor))
    return `${page}: ${target} has no such heading`
  return undefined
}

test.each(PAGES)('every link of %s leads somewhere', (page) => {
  expect(linksOf(page).flatMap((target) => deadEnd(page, target) ?? [])).toEqual([])
})

test('the README names every guide', () => {
  const named = new Set(linksOf('README.md').map((target) => target.split('#')[0]))
  expect(PAGES.filter((page) => page.startsWith('docs/') && !named.has(page))).toEqual([])
})

describe('what the pages name is there', () => {
  const config = [
    ...readdirSync(join(ROOT, 'src/config'))
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `src/config/${name}`),
    'src/notifications/receivers/mail-settings.ts',
  ]
    .map(read)
    .join('\n')

  /** Variables of other programs, and of the tests. */
  const FOREIGN = [
    'ETH_RPC_HEADERS',
    'ETH_RPC_URL',
    'POSTGRES_PASSWORD',
    'IMAGE_REGISTRY',
    // The example configuration refers to them.
    'RELAYER_DEV_KEY',
    'WEBHOOK_SIGNING_KEY',
    'CHROMIUM_PATH',
    'KORA_KEYS',
    'KORA_HMAC_SECRETS',
    'KORA_RECAPTCHA_SECRET',
    'KORA_BLOCK_ENGINE_URL',
    'NATS_URL',
    'NATS_TOKEN',
    'REQUIRE_NATS',
    'REQUIRE_PATRONI',
    'REQUIRE_POSTGRES',
    'REQUIRE_SOFTHSM',
    'REQUIRE_PROMETHEUS',
    'POWER_CUTS',
    // Of Turnkey.
    'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
    'ACTIVITY_TYPE_DELETE_PRIVATE_KEYS',
    'ACTIVITY_TYPE_EXPORT_PRIVATE_KEY',
    // Of Node.js.
    'NODE_OPTIONS',
    'NODE_EXTRA_CA_CERTS',
    'TEST_DATABASE_URL',
    'RPC_BLOCK_PRIVATE_IPS',
    'RELAYER_URL',
    // Of the standard of OpenTelemetry; src/config/telemetry.ts puts some names together by signal.
    'OTEL_METRICS_EXPORTER',
    'OTEL_LOGS_EXPORTER',
    'OTEL_TRACES_EXPORTER',
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'OTEL_EXPORTER_OTLP_TIMEOUT',
    'OTEL_EXPORTER_OTLP_COMPRESSION',
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'OTEL_EXPORTER_OTLP_CERTIFICATE',
    // Of the key services and of their examples.
    'AWS_ENDPOINT_URL_KMS',
    'CLIENT_ID_OF_THE_SERVICE',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'GOOGLE_PRIVATE_KEY_ID',
    'ECC_NIST_EDWARDS25519',
    'ECC_SECG_P256K1',
    'KEY_ID',
    'SEED_PHRASE',
    'SIGN_VERIFY',
    'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
    'EFFECT_ALLOW',
    'TURNKEY_API_PRIVATE_KEY',
    'CDP_API_KEY_SECRET',
    'CDP_WALLET_SECRET',
    'VAULT_ROLE_ID',
    'VAULT_SECRET_ID',
    // Of products that people come from, and of a check of this repository.
    'ENCRYPTION_PASSWORD',
    'REDIS_KEY_PREFIX',
    'REQUIRE_REDIS',
    // Of the examples with HSMs.
    'AZURE_TENANT_ID',
    'HSM_PIN',
    'OIDC_CLIENT_SECRET',
    'LD_LIBRARY_PATH',
    'SOFTHSM2_CONF',
    'SO_PIN',
    'ERR_ACCESS_DENIED',
    'CKA_EC_POINT',
    'CKA_EXTRACTABLE',
    'CKA_ID',
    'CKA_LABEL',
    'CKA_SENSITIVE',
    'CKA_SIGN',
    'CKM_ECDSA',
    'CKM_EDDSA',
  ]
  const pages = PAGES.filter((page) => page !== 'CHANGELOG.md')

  test.each(pages)('the variables of %s', (page) => {
    const code = [...read(page).matchAll(/```[\s\S]*?```|`[^`\n]+`/g)].map(([text]) => text).join('\n')
    const names = code.match(/(?<![\w$.:-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w.-])/g) ?? []
    const unknown = names.filter(
      (name) => !FOREIGN.includes(name) && !new RegExp(`\\b${name}\\b`).test(config),
    )
    expect([...new Set(unknown)]).toEqual([])
  })

  test.each(PAGES)('the scripts and commands of %s', (page) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const files = ['src/cli', 'importers'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => join(folder, name)),
    )
    const commands = files.flatMap((file) =>
      [...read(file).matchAll(/^ {2}name: '([a-z0-9 -]+)',$/gm)].map(([, named]) => named ?? ''),
    )
    const run = [...read(page).matchAll(/npm run ([a-z:]+)/g)].map(([, name = '']) => name)
    const called = [...read(page).matchAll(/npm run relayer -- ([a-z][a-z-]*(?: [a-z][a-z0-9-]*)?)/g)].map(
      ([, name = '']) => name,
    )
    expect(run.filter((name) => !(name in scripts))).toEqual([])
    expect(
      called.filter((name) => !commands.some((command) => `${name} `.startsWith(`${command} `))),
    ).toEqual([])
  })
})

test('the page about limits has every setting with its default and its range', () => {
  const settings = [
    ...read('src/config/environment.ts').matchAll(/^ {2}([A-Z_]+): \[([\d_]+), ([\d_]+), ([\d_]+)\],$/gm),
  ].map(([, name, ...numbers]) => [name, ...numbers.map((text) => text?.replaceAll('_', ''))])
  expect(settings.length).toBeGreaterThan(15)
  const rows = read('docs/limits.md').split('\n')
  const missing = settings.filter(
    ([name, normal, least, most]) =>
      !rows.some((row) => row.startsWith(`| \`${name}\` | ${normal} | ${least} to ${most} |`)),
  )
  expect(missing).toEqual([])
})
