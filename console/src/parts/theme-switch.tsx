import { useLayoutEffect, useState } from 'preact/hooks'

type Theme = 'system' | 'light' | 'dark'

const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' }
const NAME = 'relayer-console-theme'

/** Goes through the themes: that of the system, light, dark. The browser keeps the choice, which is no secret. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(readTheme)
  useLayoutEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme
    keepTheme(theme)
  }, [theme])
  return (
    <button type="button" class="theme" onClick={() => setTheme(NEXT[theme])}>
      Theme: {theme}
    </button>
  )
}

function readTheme(): Theme {
  try {
    const kept = localStorage.getItem(NAME)
    return kept === 'light' || kept === 'dark' ? kept : 'system'
  } catch {
    return 'system'
  }
}

function keepTheme(theme: Theme): void {
  try {
    if (theme === 'system') localStorage.removeItem(NAME)
    else localStorage.setItem(NAME, theme)
  } catch {
    // A browser that keeps nothing shows the theme until the page is left.
  }
}
