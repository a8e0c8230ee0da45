import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { nameOfCaller } from '../../format/person.ts'
import { formatTime } from '../../format/times.ts'
import { useLoad } from '../../live/use-load.ts'
import { useNetworks } from '../../live/use-networks.ts'
import { Age } from '../../parts/age.tsx'
import { Facts } from '../../parts/facts.tsx'
import { LoadedPage } from '../../parts/loaded-page.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { UsagePanel } from '../../parts/usage-panel.tsx'
import { hrefOf } from '../../routing/routes.ts'
import { currencyOfId } from '../../rules/rules.ts'
import { RulesFacts } from '../../rules/rules-facts.tsx'
import { useWorkplace } from '../../session/session-context.ts'
import { ApiKeyActions } from './api-key-actions.tsx'

/** An API key: its rights, and what it has spent. */
export function ApiKeyPage({ id }: { readonly id: string }) {
  const { client } = useWorkplace().session
  const key = useLoad((signal) => client.apiKeys.get(id, { signal }), [id])
  const usage = useLoad((signal) => client.apiKeys.getUsage(id, { signal }), [id])
  return (
    <LoadedPage title={`API key ${id}`} loaded={key}>
      {(found) => (
        <Page
          title={found.name}
          aside={
            <Status value={found.disabled ? 'disabled' : 'active'} tone={found.disabled ? 'bad' : 'good'} />
          }
          actions={<ApiKeyActions apiKey={found} onDone={key.reload} />}
        >
          <div class="columns">
            <Panel title="Rights">
              <Facts
                facts={{
                  Id: <code>{found.id}</code>,
                  ...rightsOf(found),
                  'Last used': <Age of={found.last_used_at} />,
                  Created: `${formatTime(found.created_at)} by ${found.created_by}`,
                  Secrets: found.secrets.map(({ prefix }) => `${prefix}…`).join(', '),
                  Audit: <a href={hrefOf(['audit'], { actor: found.id })}>Activity</a>,
                }}
              />
            </Panel>
            <div>
              <Panel title="Rules">
                <RulesOfKey rules={found.rules} />
              </Panel>
              <UsagePanel usage={usage} />
            </div>
          </div>
        </Page>
      )}
    </LoadedPage>
  )
}

/** The key that the person has signed in with, or the person. */
export function CurrentKeyPage() {
  const { key } = useWorkplace().session
  return (
    <Page title={nameOfCaller(key.id, key.person)}>
      <Panel title="Permissions">
        <Facts
          facts={{
            ...(key.session && { Roles: key.session.roles.join(', ') }),
            ...rightsOf(key),
            ...(key.session && { Expires: formatTime(key.session.expires_at) }),
          }}
        />
      </Panel>
      <Panel title="Rules">
        <RulesOfKey rules={key.rules} />
      </Panel>
    </Page>
  )
}

function RulesOfKey({ rules }: { readonly rules: Schemas['SpendingRules'] | undefined }) {
  const networks = useNetworks()
  if (rules === undefined) return <p class="muted">No rules. This key can spend whatever its relayers can.</p>
  return (
    <RulesFacts
      rules={rules}
      currencyOf={(id) => (id === undefined ? undefined : currencyOfId(id, networks.all))}
    />
  )
}

function rightsOf({ scopes, relayers, networks, expires_at }: Schemas['CurrentApiKey']) {
  return {
    Scopes: scopes.join(', '),
    Relayers: relayers?.join(', ') ?? 'all',
    Networks: networks?.join(', ') ?? 'all',
    Expires: expires_at === undefined ? 'never' : formatTime(expires_at),
  }
}
