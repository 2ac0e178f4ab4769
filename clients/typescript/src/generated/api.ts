// Made by scripts/generate.mjs of api/openapi.yaml; do not edit.

export interface components {
    schemas: {
        /** @example demo */
        BoardName: string;
        /**
         * @description 1 to 64 bytes of UTF-8, compared as bytes; nothing is normalized (NFC is good advice). No control characters, no line or paragraph separators, no Bidi_Control (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), and not . or .. alone. Zero-width and unassigned characters are allowed, even alone (U+200B); a board with strict_ids refuses them.
         * @example u1
         */
        MemberID: string;
        /** Format: int64 */
        Int64: bigint;
        /**
         * Format: int64
         * @description A state of a period. It grows by one with each change of an entry.
         */
        Seq: number;
        /**
         * Format: date-time
         * @description RFC 3339, UTC, microseconds.
         * @example 2026-11-20T13:00:00.000000Z
         */
        Time: string;
        /**
         * @description How time is divided into periods, in the board's time zone; weeks are those of ISO 8601, seasons those that the board lists.
         * @enum {string}
         */
        Window: "all_time" | "hour" | "day" | "week" | "month" | "quarter" | "year" | "season";
        /**
         * @description How ties are numbered.
         * @enum {string}
         */
        Mode: "strict" | "tied" | "dense";
        /**
         * @description How ties are numbered in an answer; all: in each of these ways.
         * @enum {string}
         */
        QueryMode: "strict" | "tied" | "dense" | "all";
        /**
         * @description desc: higher is better.
         * @enum {string}
         */
        Order: "desc" | "asc";
        /**
         * @description What a submission does: best keeps the better entry, latest replaces it, sum adds to the score.
         * @enum {string}
         */
        Policy: "best" | "latest" | "sum";
        /**
         * @description Who may read a board: anyone, or holders of a key that covers it.
         * @enum {string}
         */
        Visibility: "public" | "private";
        /**
         * @description Where an answer came from.
         * @enum {string}
         */
        Layer: "local" | "redis" | "mysql";
        /** @description The rules that are written and shown alike. */
        BoardFields: {
            /** @description Name for people. Empty when left out. At most 200 bytes. */
            title?: string;
            /** @description Which scores are better, higher ones with desc, lower ones with asc. desc when left out. */
            order?: components["schemas"]["Order"];
            /** @description What a submission does. best keeps the better entry, latest replaces it, sum adds to the score. best when left out. */
            policy?: components["schemas"]["Policy"];
            /** @description How ties are numbered. strict when left out. */
            mode?: components["schemas"]["Mode"];
            /** @description Windows in which a submission counts. Requests read the first one by default. A window that is added begins empty; a window that is removed keeps its periods. all_time when left out. */
            windows?: components["schemas"]["Window"][];
            /** @description IANA time zone of the periods. It cannot change once a calendar period has been used. UTC when left out. */
            time_zone?: string;
            /** @description Who may read the board. public when left out. */
            visibility?: components["schemas"]["Visibility"];
            /** @description Entries in the Redis copy. 1000 when left out. */
            top_n?: number;
            /** @description How long an unread copy stays in Redis. A Go duration of at least 1m. 24h when left out. */
            cache_ttl?: string;
            /** @description The periods of window season, in order and not overlapping. Between them a board with no other window takes no submissions; one that was used cannot change. */
            seasons?: components["schemas"]["Season"][];
            /**
             * @description How many closed periods are kept by window; all of them without an entry. Older ones are deleted.
             * @example {
             *       "day": 90,
             *       "hour": 48
             *     }
             */
            keep?: {
                [key: string]: number;
            };
            display?: components["schemas"]["Display"];
            face?: components["schemas"]["Face"];
            /**
             * @description What the board is about, at most 16. Labels select boards for lists and combined rankings. Names and values are [a-z0-9][a-z0-9._-]{0,63}.
             * @example {
             *       "type": "moba",
             *       "aspect": "sound"
             *     }
             */
            labels?: {
                [key: string]: string;
            };
            /** @description Whether submissions for ids that are not printable ASCII are rejected. Printable ASCII is U+0020 to U+007E; the others are rejected with invalid-member. Entries that are there stay, and are read as before. false when left out. */
            strict_ids?: boolean;
            /**
             * @description Whether servers keep its periods whole in memory; by how much they are read when left out. There every question is answered without a round trip, and dense ranks are known at any depth. always: the current periods as soon as they are read, before those of other boards; within --resident-memory.
             * @enum {string}
             */
            resident?: "always" | "never";
            /**
             * @description Which submissions are recorded, with their key and outcome; none when left out. applied: those that changed an entry. Not on derived boards.
             * @enum {string}
             */
            record?: "applied" | "all";
            /**
             * @description How long records of submissions are kept, 1h at least. 2160h when left out.
             * @example 2160h
             */
            record_ttl?: string;
            overrides?: components["schemas"]["Overrides"];
            /** @description What players may do with tokens of their own, see docs/players.md. Left out: what anyone may. */
            players?: {
                /** @description Whether players read their own entry and those around it, on a private board too. false when left out. */
                read?: boolean;
                /**
                 * @description Whether players submit their own scores with a token, and each with a play. own: scores for themselves. play: these, each once for a play that they begin with POST /v1/boards/{board}/plays. none: keys submit. none when left out.
                 * @enum {string}
                 */
                submit?: "none" | "own" | "play";
                /**
                 * @description How long a play takes at least, a Go duration such as 10s. With submit play. 0s when left out.
                 * @example 10s
                 */
                min_time?: string;
                /**
                 * @description How long a play takes at most, a Go duration up to 24h. With submit play. 1h when left out.
                 * @example 10m
                 */
                max_time?: string;
            };
            /** @description Which members are told that another one passed them in the first window, by events of kind member.passed: see docs/webhooks.md. Left out: none. Not on derived boards. */
            notify?: {
                /**
                 * @description Which members are told by an event that another one passed them; without the rule none are. friends: members who have the one that passes on their list of friends. top: those in the first places.
                 * @enum {string}
                 */
                passed: "friends" | "top";
                /** @description How many places, or friends that one change passes. top: how many places. friends: how many at most of those whom one change passes, best first. 10 when left out. */
                within?: number;
            };
            /** @description Submissions may have metadata, which their entries keep. Left out: they may not. Not on derived boards. */
            metadata?: {
                /** @description How long the metadata of one entry may be, as JSON without spaces; without the rule it has none. */
                max_bytes: number;
            };
            /** @description Which submissions wait for an admin before they count; what waits is in no answer. Left out: none. Those of keys of scope admin never do. Not on derived boards. */
            review?: {
                /** @description Which submissions wait for an admin. One that applies is enough. */
                hold: components["schemas"]["HoldRule"][];
                /**
                 * @description How long one waits at most, and a decided one is kept: a Go duration or days, from 1h to 90d. 14d when left out.
                 * @example 14d
                 */
                expire?: string;
            };
        };
        /** @description How people are shown the scores, on pages and by clients that read it. Scores stay whole numbers in requests, answers and orders. Left out: as whole numbers. */
        Display: {
            /**
             * @description What a score is, a duration in seconds or a date in seconds since 1970; a number when left out or empty.
             * @enum {string}
             */
            kind?: "" | "duration" | "date";
            /** @description How many of the last digits of a score stand behind the point. With 3, the score 83456 is the number 83.456, or the duration 1:23.456. 0 when left out. */
            decimals?: number;
            /** @description Unit of a number, such as km. At most 16 bytes. */
            unit?: string;
        };
        /** @description How the public page of the board looks, beside what the installation has for all of its pages. All of it is shown as text or as a picture, never as HTML. Left out: as the other pages do. */
        Face: {
            /**
             * @description Colour of links and marks, such as #3151d3, in the place of the server's. It is made darker on light ground, and lighter on dark ground, until it can be read.
             * @example #b3261e
             */
            accent?: string;
            /**
             * @description Name of a picture in the folder logos of --site, which is shown beside the title. A server without such a picture shows none.
             * @example arcade.png
             */
            logo?: string;
            /**
             * @description Label by whose values its page leads to the boards labelled part-of:BOARD, as in country. To the public ones, 250 at most. With country, ISO codes of two letters are shown as names.
             * @example country
             */
            parts?: string;
            /** @description A line of text below the page, in which addresses are links. Without control characters. At most 500 bytes. */
            footer?: string;
        };
        /**
         * @description Which entries of submits may do otherwise than the policy says, by keys of scope admin and by those named. Left out: none may. Not on derived boards.
         * @example {
         *       "keys": [
         *         "k7f3aaaaaaaaa"
         *       ],
         *       "ops": [
         *         "latest"
         *       ],
         *       "keep_time": true
         *     }
         */
        Overrides: {
            /** @description Ids of keys, besides those of scope admin, whose submissions may override the policy. env:write is all keys of scope write in the server's settings. */
            keys?: string[];
            /** @description What submissions may put in the place of the policy. */
            ops?: components["schemas"]["Policy"][];
            /** @description Whether submissions may keep the time of a score that stays. false when left out. */
            keep_time?: boolean;
        };
        Season: {
            /** @description Of its own, neither current nor previous. */
            name: string;
            /** @description At or after the end of the season before. */
            starts_at: components["schemas"]["Time"];
            /** @description Exclusive. */
            ends_at: components["schemas"]["Time"];
        };
        /** @description The rules of a board as they are sent; all are optional. */
        BoardRules: {
            refresh?: components["schemas"]["RefreshRules"];
            limits?: components["schemas"]["LimitRules"];
            tiebreak?: components["schemas"]["TiebreakRules"];
            /**
             * Format: date-time
             * @description Submissions before it are rejected.
             */
            starts_at?: string | null;
            /**
             * Format: date-time
             * @description Submissions from it on are rejected.
             */
            ends_at?: string | null;
            /** @description Makes it a derived board. */
            derive?: components["schemas"]["DeriveRules"] | null;
            /** @description As GET shows it: 422 when it is not that of the path. No board is renamed. */
            name?: string;
            /** @description Ignored. */
            created_time?: string;
            /** @description Ignored. */
            updated_time?: string;
            /** @description Ignored. */
            stale?: boolean;
        } & components["schemas"]["BoardFields"];
        /** @description Changes of the rules of a board, which BoardRules describes; what is left out stays, null gives a rule its default. */
        BoardPatch: {
            title?: string | null;
            order?: components["schemas"]["Order"] | null;
            policy?: components["schemas"]["Policy"] | null;
            mode?: components["schemas"]["Mode"] | null;
            /** @description Replaced as a whole. */
            windows?: components["schemas"]["Window"][] | null;
            time_zone?: string | null;
            visibility?: components["schemas"]["Visibility"] | null;
            top_n?: number | null;
            refresh?: {
                full?: string | null;
                incremental?: string | null;
                dynamic?: string | null;
            } | null;
            cache_ttl?: string | null;
            limits?: {
                /** Format: int64 */
                min_score?: bigint | null;
                /** Format: int64 */
                max_score?: bigint | null;
                /** Format: int64 */
                max_delta?: bigint | null;
                /** Format: int64 */
                per_second?: bigint | null;
            } | null;
            tiebreak?: {
                order?: components["schemas"]["Order"] | null;
                /** @description Replaced as a whole. */
                fields?: components["schemas"]["TiebreakFieldRules"][] | null;
            } | null;
            /** Format: date-time */
            starts_at?: string | null;
            /** Format: date-time */
            ends_at?: string | null;
            /** @description Replaced as a whole. */
            seasons?: components["schemas"]["Season"][] | null;
            derive?: {
                /** @description Replaced as a whole. */
                from?: components["schemas"]["DeriveFromRules"][];
                last?: string | null;
                op?: components["schemas"]["DeriveOp"] | null;
                aggregate?: components["schemas"]["Aggregate"] | null;
            } | null;
            /** @description By name; null takes one away. */
            keep?: {
                [key: string]: number | null;
            } | null;
            display?: {
                /** @enum {string|null} */
                kind?: "" | "duration" | "date" | null;
                decimals?: number | null;
                unit?: string | null;
            } | null;
            face?: {
                accent?: string | null;
                logo?: string | null;
                parts?: string | null;
                footer?: string | null;
            } | null;
            /** @description By name; null takes one away. */
            labels?: {
                [key: string]: string | null;
            } | null;
            strict_ids?: boolean | null;
            /** @enum {string|null} */
            resident?: "always" | "never" | null;
            /** @enum {string|null} */
            record?: "applied" | "all" | null;
            record_ttl?: string | null;
            overrides?: {
                /** @description Replaced as a whole. */
                keys?: string[] | null;
                /** @description Replaced as a whole. */
                ops?: components["schemas"]["Policy"][] | null;
                keep_time?: boolean | null;
            } | null;
            players?: {
                read?: boolean | null;
                /** @enum {string|null} */
                submit?: "none" | "own" | "play" | null;
                min_time?: string | null;
                max_time?: string | null;
            } | null;
            notify?: {
                /** @enum {string} */
                passed?: "friends" | "top";
                within?: number | null;
            } | null;
            metadata?: {
                max_bytes?: number;
            } | null;
            review?: {
                /** @description Replaced as a whole. */
                hold?: components["schemas"]["HoldRule"][];
                expire?: string | null;
            } | null;
            /** @description As GET shows it, like the times: another value than the board has is 422. */
            name?: string;
            /** @description As GET shows it. */
            created_time?: string;
            /** @description As GET shows it: 422 when the board was changed since. */
            updated_time?: string;
            /** @description Ignored. */
            stale?: boolean | null;
        };
        /** @description When the copy is renewed besides after each commit. */
        RefreshRules: {
            /**
             * @description When to rebuild the copy, as a cron expression in UTC. Of 5 fields: then each current period gets a full copy, read or not; never when left out or empty.
             * @example 0 4 * * *
             */
            full?: string;
            /** @description Interval of catching up, or off. A Go duration of at least 100ms. 10s when left out. */
            incremental?: string;
            /**
             * @description Pairs of seconds/changes, as in 900/1 300/10. None when left out or empty.
             * @example 900/1 300/10
             */
            dynamic?: string;
        };
        /** @description Bounds of the scores; none where left out or null. A submission that would lead outside of min_score and max_score is rejected, even when policy best would not take it over; only a sum that lies outside already, because the limits were narrowed, may move towards them. */
        LimitRules: {
            /**
             * Format: int64
             * @description Least score that is accepted.
             */
            min_score?: bigint | null;
            /**
             * Format: int64
             * @description Greatest score that is accepted.
             */
            max_score?: bigint | null;
            /**
             * Format: int64
             * @description Greatest change of a score by one submission; no first score in a period is one, but for policy sum: max_score bounds it. With policy sum it is the greatest amount. With best and latest it does not apply to a member's first score in a period, which max_score bounds. A score that best ignores is no change.
             */
            max_delta?: bigint | null;
            /**
             * Format: int64
             * @description Greatest score of a play for each second since it was begun; with policy sum the greatest amount. Where players submit with plays. Not with order asc. Keys submit without plays, and are not bound by it.
             */
            per_second?: bigint | null;
        };
        /** @description Decides between equal scores, before created_time: one number, or several fields packed into one. */
        TiebreakRules: {
            /** @description Which tiebreaks are better, higher ones with desc, lower ones with asc. desc when left out. */
            order?: components["schemas"]["Order"];
            /**
             * @description Fields of the tiebreak, the first decides first, each in its own direction. Together they have at most 63 bits. They cannot change while the board has entries.
             * @example [
             *       {
             *         "name": "level",
             *         "bits": 20,
             *         "order": "desc"
             *       },
             *       {
             *         "name": "paid",
             *         "bits": 1,
             *         "order": "desc"
             *       },
             *       {
             *         "name": "deaths",
             *         "bits": 16,
             *         "order": "asc"
             *       }
             *     ]
             */
            fields?: components["schemas"]["TiebreakFieldRules"][];
        };
        TiebreakFieldRules: {
            /** @description Of its own. */
            name: string;
            /** @description A value is 0 to 2^bits - 1. */
            bits: number;
            /** @description Which values are better, whatever the order of the tiebreak. desc: higher is better. desc when left out. */
            order?: components["schemas"]["Order"];
        };
        /** @description Makes it a derived board: its entries follow those of its sources, and it takes no submissions. Its windows are [all_time], its sources are not derived themselves; a source may be made later. After last is written out there are 1 to 100 sources. A change of the rule recomputes all entries. */
        DeriveRules: {
            /** @description The sources. */
            from: components["schemas"]["DeriveFromRules"][];
            /**
             * @description Of each source the current hour, day or week and those before it, so many in all.
             * @example 7d
             */
            last?: string;
            /** @description union when left out. Members that are in any of the sources or in all of them. */
            op?: components["schemas"]["DeriveOp"];
            /** @description How weight × score in the member's sources becomes the score; sum when left out. It is exact, beyond an int64 the nearest one. The tiebreak is 0. created_time is when the score was reached: of a sum the latest of the entries that have a weight, of min and max the earliest that gives it. */
            aggregate?: components["schemas"]["Aggregate"];
        };
        DeriveFromRules: {
            board: components["schemas"]["BoardName"];
            /** @description By default the first of the board; with last that of its unit. */
            window?: components["schemas"]["Window"];
            /** @description The name of a period, current, or previous; current when left out, and with last. */
            period?: string;
            /**
             * Format: int64
             * @description What the scores of the source are multiplied by, 1 when left out. 0: they count as 0, and for being in.
             */
            weight?: number | null;
        };
        /**
         * @description Members that are in any of the sources or in all of them.
         * @enum {string}
         */
        DeriveOp: "union" | "intersect";
        /**
         * @description What is made of weight × score in the sources that a member is in.
         * @enum {string}
         */
        Aggregate: "sum" | "min" | "max";
        /** Format: int64 */
        Weight: number;
        /** @description A board with all its rules. */
        Board: {
            name: components["schemas"]["BoardName"];
            refresh: components["schemas"]["Refresh"];
            limits: components["schemas"]["Limits"];
            tiebreak: components["schemas"]["Tiebreak"];
            /** @description Submissions before it are rejected. */
            starts_at?: components["schemas"]["Time"];
            /** @description Submissions from it on are rejected. */
            ends_at?: components["schemas"]["Time"];
            derive?: components["schemas"]["Derive"];
            created_time: components["schemas"]["Time"];
            updated_time: components["schemas"]["Time"];
            /**
             * @description There while MySQL does not answer, and then without an ETag: these are the rules that the server knew last.
             * @constant
             */
            stale?: true;
        } & WithRequired<components["schemas"]["BoardFields"], "title" | "order" | "policy" | "mode" | "windows" | "time_zone" | "visibility" | "top_n" | "cache_ttl">;
        /** @description When the copy is renewed besides after each commit. */
        Refresh: {
            /**
             * @description When to rebuild the copy, as a cron expression in UTC. Of 5 fields: then each current period gets a full copy, read or not; never when left out or empty.
             * @example 0 4 * * *
             */
            full: string;
            /** @description Interval of catching up, or off. A Go duration of at least 100ms. */
            incremental: string;
            /**
             * @description Pairs of seconds/changes, as in 900/1 300/10. None when left out or empty.
             * @example 900/1 300/10
             */
            dynamic: string;
        };
        /** @description Bounds of the scores; none where left out. */
        Limits: {
            /**
             * Format: int64
             * @description Least score that is accepted.
             */
            min_score?: bigint;
            /**
             * Format: int64
             * @description Greatest score that is accepted.
             */
            max_score?: bigint;
            /**
             * Format: int64
             * @description Greatest change of a score by one submission; no first score in a period is one, but for policy sum: max_score bounds it. With policy sum it is the greatest amount. With best and latest it does not apply to a member's first score in a period, which max_score bounds. A score that best ignores is no change.
             */
            max_delta?: bigint;
            /**
             * Format: int64
             * @description Greatest score of a play for each second since it was begun; with policy sum the greatest amount. Where players submit with plays. Not with order asc. Keys submit without plays, and are not bound by it.
             */
            per_second?: bigint;
        };
        /** @description What decides between equal scores, before created_time does. */
        Tiebreak: {
            /** @description Which tiebreaks are better, higher ones with desc, lower ones with asc. */
            order: components["schemas"]["Order"];
            /**
             * @description Fields of the tiebreak, the first decides first, each in its own direction. Together they have at most 63 bits. They cannot change while the board has entries.
             * @example [
             *       {
             *         "name": "level",
             *         "bits": 20,
             *         "order": "desc"
             *       },
             *       {
             *         "name": "paid",
             *         "bits": 1,
             *         "order": "desc"
             *       },
             *       {
             *         "name": "deaths",
             *         "bits": 16,
             *         "order": "asc"
             *       }
             *     ]
             */
            fields?: components["schemas"]["TiebreakField"][];
        };
        TiebreakField: {
            /** @description Of its own. */
            name: string;
            /** @description A value is 0 to 2^bits - 1. */
            bits: number;
            /** @description Which values are better, whatever the order of the tiebreak. desc: higher is better. */
            order: components["schemas"]["Order"];
        };
        /** @description The rule of a derived board. */
        Derive: {
            /** @description The sources that the caller may read. */
            from: components["schemas"]["DeriveFrom"][];
            /** @description Of each source the current hour, day or week and those before it, so many in all. */
            last?: string;
            op: components["schemas"]["DeriveOp"];
            aggregate: components["schemas"]["Aggregate"];
        };
        DeriveFrom: {
            board: components["schemas"]["BoardName"];
            /** @description Left out: the first of the board, or with last that of its unit. */
            window?: components["schemas"]["Window"];
            /** @description The name of a period, current, or previous. */
            period: string;
            /** @description What the scores of the source are multiplied by. */
            weight: components["schemas"]["Weight"];
        };
        BoardList: {
            boards: components["schemas"]["Board"][];
            /** @description There are more. */
            next_cursor?: string;
            /**
             * @description There while MySQL does not answer: these are the boards that the server knew last, and there may be others.
             * @constant
             */
            stale?: true;
        };
        Submit: {
            entries: components["schemas"]["Submission"][];
            atomic?: components["schemas"]["Atomic"];
        };
        /** @description true: all entries are applied or unchanged, or nothing of the request is done. It is decided in the order of the entries, each on what those before it make of its board. If one is rejected or unmet, the others are aborted. */
        Atomic: boolean | null;
        /**
         * @description What the member's entry must be like, in each window of the board; all that is given has to hold. Otherwise the result is unmet, with the entry as it is. A hidden member's entry counts as any other. null is as if left out.
         * @example {
         *       "fields": {
         *         "paid": 0
         *       }
         *     }
         */
        Condition: {
            /** @description true: there is no entry, and nothing else can be asked of it. false: there is one. */
            absent?: boolean | null;
            /** Format: int64 */
            score?: bigint | null;
            /**
             * Format: int64
             * @description On a board without tiebreak fields.
             */
            tiebreak?: bigint | null;
            /** @description Some of the board's tiebreak fields, or all. */
            fields?: {
                [key: string]: components["schemas"]["Int64"];
            } | null;
            /** Format: date-time */
            created_time?: string | null;
        };
        /**
         * @description What came with the entry's submission: a replay's address, a loadout. It decides no rank.
         * @example {
         *       "replay": "/replays/4711",
         *       "map": "harbour"
         *     }
         */
        Metadata: {
            [key: string]: unknown;
        };
        FieldValues: {
            [key: string]: components["schemas"]["Int64"];
        };
        Submission: {
            member: components["schemas"]["MemberID"];
            /**
             * Format: int64
             * @description With policy sum, the amount to add. Needed without set and add; with them the score stays, and a member without an entry is unmet.
             */
            score?: bigint | null;
            /**
             * Format: int64
             * @description 0 when left out; with policy sum, unchanged. On a board with tiebreak fields: their packed value, 0 to 2^bits - 1 over all fields.
             */
            tiebreak?: bigint | null;
            /**
             * @description Instead of tiebreak, on a board with tiebreak fields: the values of all. Needed there unless tiebreak is given, or policy is sum, the board has one window and the member an entry, which keeps its own.
             * @example {
             *       "level": 7,
             *       "paid": 1,
             *       "deaths": 3
             *     }
             */
            fields?: {
                [key: string]: components["schemas"]["Int64"];
            } | null;
            /**
             * Format: date-time
             * @description When the score was reached, for imports and corrections: needs scope admin. Up to a second ahead of the database's clock it is that clock.
             */
            created_time?: string | null;
            if?: components["schemas"]["Condition"] | null;
            /** @description Values of single tiebreak fields; the others stay. A member without an entry begins with 0 in each. Not together with tiebreak or fields. With a score, policy best keeps the better whole entry; without one the fields change whatever the policy. */
            set?: components["schemas"]["FieldValues"] | null;
            /** @description Amounts to add to single tiebreak fields, as set. A value that does not fit into its field is rejected. */
            add?: components["schemas"]["FieldValues"] | null;
            /** @description In the place of the board's policy, where the rule overrides allows it. */
            op?: components["schemas"]["Policy"] | null;
            /** @description true, where the rule overrides allows it: the entry's created_time stays as long as its score does, so that a changed field does not cost the place among equals. */
            keep_time?: boolean | null;
            /** @description From players, where the rule players.submit is play: the token of POST /v1/boards/{board}/plays. Not with atomic. */
            play?: string | null;
            /** @description Where the board has the rule metadata: an applied submission replaces the entry's metadata, without metadata removes it, without a score leaves it. */
            metadata?: components["schemas"]["Metadata"] | null;
        };
        SubmitResults: {
            results: components["schemas"]["Result"][];
            /** @description State of the board's first window after the commit; the results are those of this window. */
            seq: components["schemas"]["Seq"];
            seqs?: components["schemas"]["SeqByWindow"];
            replayed?: components["schemas"]["WasReplayed"];
        };
        /** @description When there are several windows: the state of the current period of each. */
        SeqByWindow: {
            [key: string]: components["schemas"]["Seq"];
        };
        /**
         * @description unmet: the entry is not as if wants it. aborted: another entry of an atomic request was rejected or unmet. held: it waits for an admin. Of rejected, unmet, aborted and held entries nothing was done.
         * @enum {string}
         */
        ResultStatus: "applied" | "unchanged" | "rejected" | "unmet" | "aborted" | "held";
        /** @description score, previous_score and created_time are null when the member has no entry. */
        Result: {
            member: string;
            status: components["schemas"]["ResultStatus"];
            /**
             * Format: int64
             * @description After it.
             */
            score: bigint | null;
            /**
             * Format: int64
             * @description Before it.
             */
            previous_score: bigint | null;
            /** Format: date-time */
            created_time: string | null;
            /** @description After it; there when the entry of the submit has if, set, add, op or keep_time, and the member one on the board. */
            tiebreak?: components["schemas"]["Int64"];
            /** @description With tiebreak, on a board with fields. */
            fields?: {
                [key: string]: components["schemas"]["Int64"];
            };
            /** @description Why, when rejected, unmet, aborted or held. */
            error?: components["schemas"]["Problem"];
            standing?: components["schemas"]["MovedOrNull"];
        };
        /** @description With standings=true, when it is applied or unchanged. */
        MovedOrNull: components["schemas"]["Moved"] | null;
        /** @description What the submission changed, in one state of the period. Neither rank counts the member's own entry: the first who gets better was first before. */
        Moved: {
            /** @description The state, which has the submission, and perhaps later ones too. */
            seq: components["schemas"]["Seq"];
            /**
             * Format: int64
             * @description Of the entry after the submission.
             */
            rank: number;
            /**
             * Format: int64
             * @description Of the entry before it, in the same state; null when there was none, and when the request is repeated.
             */
            previous_rank: number | null;
            /**
             * Format: int64
             * @description Entries of the period.
             */
            total: number;
            /** @description With friends=true: the first 10 friends of the member between its old and its new entry, best first; none when there was no old one. null when the request is repeated, or the friends of all its members are more than 5,000. */
            passed?: string[] | null;
        };
        MultiBoardSubmit: {
            /** @description For at most 50 boards. */
            entries: components["schemas"]["BoardSubmission"][];
            atomic?: components["schemas"]["Atomic"];
        };
        BoardSubmission: {
            board: components["schemas"]["BoardName"];
            member: components["schemas"]["MemberID"];
            /**
             * Format: int64
             * @description As in a submit to the board, like the rest.
             */
            score?: bigint | null;
            /** Format: int64 */
            tiebreak?: bigint | null;
            fields?: {
                [key: string]: components["schemas"]["Int64"];
            } | null;
            /**
             * Format: date-time
             * @description Needs scope admin.
             */
            created_time?: string | null;
            if?: components["schemas"]["Condition"] | null;
            set?: components["schemas"]["FieldValues"] | null;
            add?: components["schemas"]["FieldValues"] | null;
            op?: components["schemas"]["Policy"] | null;
            keep_time?: boolean | null;
            metadata?: components["schemas"]["Metadata"] | null;
        };
        MultiBoardResults: {
            results: components["schemas"]["BoardResult"][];
            /** @description By name: the state after the commit of every named board that exists and is not derived. */
            boards: {
                [key: string]: components["schemas"]["BoardSeqs"];
            };
            replayed?: components["schemas"]["WasReplayed"];
        };
        /**
         * @description There when the request was carried out before under its Idempotency-Key: this is the answer of then, and nothing counted again.
         * @constant
         */
        WasReplayed: true;
        BoardSeqs: {
            /** @description Of the board's first window. */
            seq: components["schemas"]["Seq"];
            seqs?: components["schemas"]["SeqByWindow"];
        };
        /** @description The board, and a result as of a submit to one board. */
        BoardResult: {
            board: string;
            member: string;
            status: components["schemas"]["ResultStatus"];
            /** Format: int64 */
            score: bigint | null;
            /** Format: int64 */
            previous_score: bigint | null;
            /** Format: date-time */
            created_time: string | null;
            tiebreak?: components["schemas"]["Int64"];
            fields?: {
                [key: string]: components["schemas"]["Int64"];
            };
            /** @description Why, when rejected, unmet, aborted or held. */
            error?: components["schemas"]["Problem"];
            standing?: components["schemas"]["MovedOrNull"];
        };
        Removal: {
            member: components["schemas"]["MemberID"];
            /** @description Of the board's first window, or of the one period that was named. */
            seq: components["schemas"]["Seq"];
            seqs?: components["schemas"]["SeqByWindow"];
        };
        NameReset: {
            /**
             * @description At most 200 bytes of UTF-8. The audit has it.
             * @example a slur
             */
            reason: string;
            /** @description Who decided it, at most 128 bytes of UTF-8; by default the id of the key. */
            actor?: string;
        };
        HideRequest: {
            /**
             * @description At most 200 bytes of UTF-8.
             * @example aimbot
             */
            reason: string;
            /** @description Who decided it, at most 128 bytes of UTF-8; by default the id of the key. */
            actor?: string;
        };
        ModerationRequest: {
            action: components["schemas"]["ModerationAction"];
            members: components["schemas"]["MemberID"][];
            /**
             * @description At most 200 bytes of UTF-8. Needed to hide; of a removal nothing is kept.
             * @example aimbot
             */
            reason?: string;
            /** @description Who decided it, at most 128 bytes of UTF-8; by default the id of the key. */
            actor?: string;
            /** @description Closed periods too, when members are hidden or shown again; by default false. */
            reopen?: boolean;
        };
        /**
         * @description Remove is for one board.
         * @enum {string}
         */
        ModerationAction: "hide" | "restore" | "remove";
        Moderated: {
            action: components["schemas"]["ModerationAction"];
            board?: components["schemas"]["BoardName"];
            /** @description That were asked for. */
            members: number;
            /** @description Those who were not hidden, or had no entry to remove. */
            unchanged: components["schemas"]["MemberID"][];
        };
        /** @description A hidden member; without a board everywhere. */
        Hiding: {
            member: components["schemas"]["MemberID"];
            board?: components["schemas"]["BoardName"];
            reason: string;
            actor: string;
            hidden_at: components["schemas"]["Time"];
        };
        HiddenList: {
            hidden: components["schemas"]["Hiding"][];
            /** @description There are more. */
            next_cursor?: string;
        };
        AuditLog: {
            entries: components["schemas"]["AuditEntry"][];
            /** @description There are more. */
            next_cursor?: string;
        };
        /** @description One change. What before and after have in them depends on the action, and later versions may have more. */
        AuditEntry: {
            /** Format: int64 */
            id: number;
            time: components["schemas"]["Time"];
            /** @description The id of the key, the scope of a key of the settings, the machine's name for a run of a command; empty for the server itself. */
            actor: string;
            action: components["schemas"]["AuditAction"];
            /** @description The name that it had. */
            board?: components["schemas"]["BoardName"];
            /** @description Of an erased member a random name. */
            member?: components["schemas"]["MemberID"];
            /** @description What there was: of a board its rules, of a removed entry entries, of a hidden member hidden, reason and actor, of a profile the changed parts; of a name taken away the reason too. null: nothing. */
            before: {
                [key: string]: unknown;
            } | null;
            /** @description What there is since; of a rebuild its run. null: nothing. */
            after: {
                [key: string]: unknown;
            } | null;
            request_id?: components["schemas"]["RequestID"];
        };
        /** @enum {string} */
        AuditAction: "board.create" | "board.update" | "board.delete" | "board.rebuild" | "key.create" | "key.update" | "key.rotate" | "key.revoke" | "session.begin" | "member.hide" | "member.restore" | "member.erase" | "entry.remove" | "held.approve" | "held.reject" | "profile.create" | "profile.update" | "profile.reset" | "member.bar" | "member.unbar" | "issuer.create" | "issuer.update" | "issuer.delete" | "signing.rotate" | "endpoint.create" | "endpoint.update" | "endpoint.delete" | "endpoint.rotate" | "endpoint.test" | "endpoint.replay" | "follower.create" | "follower.delete";
        /** @description What every reading answer says of itself. */
        State: {
            board: components["schemas"]["BoardName"];
            window: components["schemas"]["Window"];
            period: string;
            mode: components["schemas"]["QueryMode"];
            /**
             * Format: int64
             * @description Entries of the period.
             */
            total: number;
            /** @description The state that the answer is exact at. */
            seq: components["schemas"]["Seq"];
            /** @description When this state was committed, by the clock of the database. No entry in it has a later created_time. */
            as_of: components["schemas"]["Time"];
            source: components["schemas"]["Layer"];
            /** @description false: the answer is at most 200 ms old. true: MySQL was away, so there may be something newer; the answer was true at seq. */
            stale: boolean;
        };
        /**
         * @description The tiebreak as the fields that it is packed from, in declared order; on boards with tiebreak fields only.
         * @example {
         *       "level": 7,
         *       "paid": 1,
         *       "deaths": 3
         *     }
         */
        Fields: {
            [key: string]: number;
        };
        EntryFields: {
            /**
             * Format: int64
             * @description In the mode of the answer; not with mode=all.
             */
            rank?: number;
            /**
             * Format: int64
             * @description With mode=all.
             */
            strict_rank?: number;
            /**
             * Format: int64
             * @description With mode=all.
             */
            tied_rank?: number;
            /**
             * Format: int64
             * @description With mode=all; null: not known.
             */
            dense_rank?: number | null;
            member: components["schemas"]["MemberID"];
            score: components["schemas"]["Int64"];
            tiebreak: components["schemas"]["Int64"];
            fields?: components["schemas"]["Fields"];
            /** @description When this score was reached. */
            created_time: components["schemas"]["Time"];
            /** @description With profiles=true, of a member that has one. */
            profile?: components["schemas"]["Profile"];
            /** @description With metadata=true, of an entry that has some. */
            metadata?: components["schemas"]["Metadata"];
        };
        RankedEntry: components["schemas"]["EntryFields"];
        TopAnswer: {
            entries: components["schemas"]["RankedEntry"][];
            /** @description There are more. */
            next_cursor?: string;
        } & components["schemas"]["State"];
        FoundAnswer: {
            entries: components["schemas"]["RankedEntry"][];
            /** @description More names begin so than are looked at, so members may be missing. Ask with more letters. */
            partial: boolean;
            /** @description There are more. */
            next_cursor?: string;
        } & components["schemas"]["State"];
        AroundAnswer: {
            entries: components["schemas"]["RankedEntry"][];
        } & components["schemas"]["State"];
        SubmissionList: {
            board: components["schemas"]["BoardName"];
            member: components["schemas"]["MemberID"];
            /**
             * @description What the board's rules say now.
             * @enum {string}
             */
            record: "none" | "applied" | "all";
            submissions: components["schemas"]["SubmissionRecord"][];
            /** @description There are more. */
            next_cursor?: string;
        };
        Race: {
            board: components["schemas"]["BoardName"];
            window: components["schemas"]["Window"];
            period: string;
            /**
             * @description What the board's rules say now.
             * @enum {string}
             */
            record: "none" | "applied" | "all";
            /** @description Of the periods that end at the moments; left out with records. */
            laps?: components["schemas"]["Window"];
            /** @description The oldest first. */
            moments: components["schemas"]["Time"][];
            /** @description In the order of now. */
            runners: components["schemas"]["Runner"][];
        };
        Runner: {
            member: components["schemas"]["MemberID"];
            /** @description At each moment, by the score alone; equal scores in the order of now. Null: the member had no entry yet, or none is known. */
            places: (number | null)[];
            /** @description The scores at the moments at which the member had an entry, the oldest first. */
            points: components["schemas"]["RunnerPoint"][];
        };
        RunnerPoint: {
            time: components["schemas"]["Time"];
            score: components["schemas"]["Int64"];
        };
        Activity: {
            board: components["schemas"]["BoardName"];
            /** @description The board's first, of which the records tell. */
            window: components["schemas"]["Window"];
            /**
             * @description What the board's rules say now.
             * @enum {string}
             */
            record: "none" | "applied" | "all";
            hours: components["schemas"]["ActivityHour"][];
            /** @description There are more records than are read: the hours before the last one here are left out. */
            partial: boolean;
        };
        ActivityHour: {
            starts_at: components["schemas"]["Time"];
            /** @description That were recorded. */
            submissions: number;
            /** @description Those of them that changed an entry. */
            applied: number;
            /** @description Those of them by which a member got an entry. */
            new_members: number;
            /** @description Of the period that is current now, at the end of the hour. Null: not known, because the period began later or was changed by something else than recorded submissions. */
            entries: number | null;
        };
        MemberData: {
            member: components["schemas"]["MemberID"];
            profile: components["schemas"]["MemberProfile"] | null;
            friends: components["schemas"]["MemberID"][];
            /** @description Members on whose lists the member is. */
            friend_of: components["schemas"]["MemberID"][];
            hidden: components["schemas"]["Hiding"][];
            /** @description From when on tokens of the member are taken, if some were ended. */
            bars: components["schemas"]["Bar"][];
            /** @description That were begun and not submitted with, for a day. */
            plays: components["schemas"]["MemberDataPlay"][];
            /** @description Submissions that wait for an admin, and those that were decided. */
            held: components["schemas"]["Held"][];
            /** @description In the order in which the periods were begun. */
            entries: components["schemas"]["MemberDataEntry"][];
            submissions: components["schemas"]["MemberDataSubmission"][];
            audit: components["schemas"]["AuditEntry"][];
        };
        MemberDataPlay: {
            board: components["schemas"]["BoardName"];
            started_time: components["schemas"]["Time"];
            /** @description Submissions with it that were refused. */
            refusals: number;
        };
        MemberDataEntry: {
            board: components["schemas"]["BoardName"];
            window: components["schemas"]["Window"];
            period: string;
            closed: boolean;
            /** @description The entry is in no answer of the period. */
            hidden: boolean;
            score: components["schemas"]["Int64"];
            tiebreak: components["schemas"]["Int64"];
            created_time: components["schemas"]["Time"];
            /** @description Of an entry that has some. */
            metadata?: components["schemas"]["Metadata"];
        };
        /** @description One submission; the record of an approval has the key that submitted. previous_score, new_score and seq are of the board's first window. */
        MemberDataSubmission: {
            board: components["schemas"]["BoardName"];
            time: components["schemas"]["Time"];
            status: components["schemas"]["ResultStatus"];
            /** Format: int64 */
            score: bigint | null;
            /** Format: int64 */
            tiebreak: bigint | null;
            /** Format: int64 */
            previous_score: bigint | null;
            /** Format: int64 */
            new_score: bigint | null;
            seq: components["schemas"]["Seq"];
            /** @description As submitted, like add, op and keep_time. */
            set?: components["schemas"]["FieldValues"];
            add?: components["schemas"]["FieldValues"];
            op?: components["schemas"]["Policy"];
            /** @constant */
            keep_time?: true;
            code?: string;
            detail?: string;
            actor: string;
            request_id: string;
        };
        /** @description One submission. previous_score, new_score and seq are those of the board's first window. */
        SubmissionRecord: {
            /** @description When it was carried out, by the clock of the database. */
            time: components["schemas"]["Time"];
            status: components["schemas"]["ResultStatus"];
            /**
             * Format: int64
             * @description As it was submitted; with policy sum the amount; null: none was, only fields changed.
             */
            score: bigint | null;
            /**
             * Format: int64
             * @description As it was submitted, fields packed; null: none was.
             */
            tiebreak: bigint | null;
            /** Format: int64 */
            previous_score: bigint | null;
            /** Format: int64 */
            new_score: bigint | null;
            seq: components["schemas"]["Seq"];
            /** @description As submitted, like add, op and keep_time. */
            set?: components["schemas"]["FieldValues"];
            add?: components["schemas"]["FieldValues"];
            op?: components["schemas"]["Policy"];
            /** @constant */
            keep_time?: true;
            /** @description Why one was rejected, unmet, aborted or held. */
            code?: string;
            detail?: string;
            /** @description Id of the key; of one from the settings env: and its scope. */
            actor: string;
            request_id: string;
        };
        HistoryAnswer: {
            board: components["schemas"]["BoardName"];
            window: components["schemas"]["Window"];
            member: components["schemas"]["MemberID"];
            /** @description The latest commit in any of the periods that were looked at. */
            as_of: components["schemas"]["Time"];
            /** @description The slowest of the layers that the answer came from. */
            source: components["schemas"]["Layer"];
            /** @description false: the answer is at most 200 ms old. true: MySQL was away, so there may be something newer; each period was so at its seq. */
            stale: boolean;
            periods: components["schemas"]["HistoryPeriod"][];
            /** @description There are older periods. */
            next_cursor?: string;
        };
        /** @description What a member has in one period. */
        HistoryPeriod: {
            period: string;
            /** Format: int64 */
            strict_rank: number;
            /** Format: int64 */
            tied_rank: number;
            score: components["schemas"]["Int64"];
            tiebreak: components["schemas"]["Int64"];
            fields?: components["schemas"]["Fields"];
            /** @description When this score was reached. */
            created_time: components["schemas"]["Time"];
            /** @description With metadata=true, of an entry that has some. */
            metadata?: components["schemas"]["Metadata"];
            /**
             * Format: int64
             * @description Entries of the period.
             */
            total: number;
            /** @description The state of the period that this is exact at. */
            seq: components["schemas"]["Seq"];
            /** @description The period is over: it changes no more, but for corrections, erasures and hidden members. */
            closed: boolean;
        };
        StandingsAnswer: {
            member: components["schemas"]["MemberID"];
            /** @description The slowest of the layers that the answer came from. */
            source: components["schemas"]["Layer"];
            /** @description false: the answer is at most 200 ms old. true: MySQL was away, so there may be something newer; each standing was so at its seq. */
            stale: boolean;
            standings: components["schemas"]["StandingOnBoard"][];
            /** @description Boards on which the member has no entry. */
            not_ranked: components["schemas"]["BoardName"][];
            /** @description Boards that have no such window or period, or whose time zone this server does not know. Left out when there are none. */
            absent?: components["schemas"]["BoardName"][];
        };
        /** @description What a member has on one of several boards. */
        StandingOnBoard: {
            board: components["schemas"]["BoardName"];
            window: components["schemas"]["Window"];
            period: string;
            /** @description How rank is numbered. */
            mode: components["schemas"]["MergedMode"];
            /**
             * Format: int64
             * @description Not with mode=all.
             */
            rank?: number;
            /**
             * Format: int64
             * @description With mode=all.
             */
            strict_rank?: number;
            /**
             * Format: int64
             * @description With mode=all.
             */
            tied_rank?: number;
            /**
             * Format: int64
             * @description With mode=all; null: not known.
             */
            dense_rank?: number | null;
            score: components["schemas"]["Int64"];
            tiebreak: components["schemas"]["Int64"];
            fields?: components["schemas"]["Fields"];
            /** @description When this score was reached. */
            created_time: components["schemas"]["Time"];
            /** @description With metadata=true, of an entry that has some. */
            metadata?: components["schemas"]["Metadata"];
            /**
             * Format: double
             * @description Share of the entries, in per cent, that this one is at least as good as; four decimals.
             */
            percentile: number;
            /**
             * Format: int64
             * @description Entries of the period.
             */
            total: number;
            /** @description The state of the period that this is exact at. */
            seq: components["schemas"]["Seq"];
            /** @description When that state was committed. */
            as_of: components["schemas"]["Time"];
        };
        MemberAnswer: {
            /**
             * Format: double
             * @description Share of the entries, in per cent, that this one is at least as good as; four decimals.
             */
            percentile: number;
        } & (components["schemas"]["State"] & components["schemas"]["EntryFields"]);
        /** @description What every answer about several boards says of itself. */
        MergedState: {
            /** @description The boards in the order of their names, each with the state that the answer is exact at. */
            boards: components["schemas"]["BoardState"][];
            /** @description Boards that have no such window or period, or whose time zone this server does not know. Left out when there are none. */
            absent?: components["schemas"]["BoardName"][];
            mode: components["schemas"]["MergedMode"];
            /**
             * Format: int64
             * @description Entries of all boards.
             */
            total: number;
            /** @description The slowest of the layers that the answer came from. */
            source: components["schemas"]["Layer"];
            /** @description false: the answer is at most 200 ms old. true: something did not answer, so there may be newer states than those in boards. */
            stale: boolean;
        };
        /**
         * @description How ties of several boards are numbered; all: in both ways.
         * @enum {string}
         */
        MergedMode: "strict" | "tied" | "all";
        BoardState: {
            board: components["schemas"]["BoardName"];
            window: components["schemas"]["Window"];
            period: string;
            /** Format: int64 */
            total: number;
            seq: components["schemas"]["Seq"];
            as_of: components["schemas"]["Time"];
        };
        MergedEntry: {
            board: components["schemas"]["BoardName"];
        } & components["schemas"]["EntryFields"];
        MergedTopAnswer: {
            entries: components["schemas"]["MergedEntry"][];
            /** @description There are more. */
            next_cursor?: string;
        } & components["schemas"]["MergedState"];
        MergedAroundAnswer: {
            entries: components["schemas"]["MergedEntry"][];
        } & components["schemas"]["MergedState"];
        MergedMemberAnswer: {
            entries: components["schemas"]["MergedMemberEntry"][];
        } & components["schemas"]["MergedState"];
        MergedMemberEntry: {
            board: components["schemas"]["BoardName"];
            /**
             * Format: double
             * @description Share of the entries of all boards, in per cent, that this one is at least as good as; four decimals.
             */
            percentile: number;
        } & components["schemas"]["EntryFields"];
        MemberList: {
            members: components["schemas"]["MemberID"][];
        };
        RanksAnswer: {
            entries: components["schemas"]["PositionedEntry"][];
            not_ranked: components["schemas"]["MemberID"][];
        } & components["schemas"]["State"];
        PositionedEntry: {
            /**
             * Format: int64
             * @description Among the members asked for, numbered as the mode does; with mode=all as the board does.
             */
            position: number;
        } & components["schemas"]["EntryFields"];
        ScoreRankAnswer: {
            score: components["schemas"]["Int64"];
            tiebreak: components["schemas"]["Int64"];
            fields?: components["schemas"]["Fields"];
            /** Format: int64 */
            strict_rank: number;
            /** Format: int64 */
            tied_rank: number;
            /**
             * Format: int64
             * @description With mode=all; null: not known.
             */
            dense_rank?: number | null;
        } & components["schemas"]["State"];
        DistributionAnswer: {
            buckets: components["schemas"]["Bucket"][];
        } & components["schemas"]["State"];
        /** @description Entries with from <= score <= to. */
        Bucket: {
            from: components["schemas"]["Int64"];
            to: components["schemas"]["Int64"];
            /** Format: int64 */
            count: number;
        };
        PeriodList: {
            periods: components["schemas"]["Period"][];
            /** @description There are more. */
            next_cursor?: string;
        };
        Period: {
            window: components["schemas"]["Window"];
            /** @description The name to ask for it with. */
            period: string;
            /**
             * Format: date-time
             * @description null of all_time.
             */
            starts_at: string | null;
            /**
             * Format: date-time
             * @description Exclusive; null when it has no end.
             */
            ends_at: string | null;
            /** @enum {string} */
            state: "open" | "closed";
            seq: components["schemas"]["Seq"];
            /** Format: int64 */
            total: number;
            as_of: components["schemas"]["Time"];
        };
        Forgetting: {
            member: components["schemas"]["MemberID"];
            /** @enum {string} */
            state: "running";
            /**
             * Format: int64
             * @description Removed so far.
             */
            entries: number;
        };
        FriendsGiven: {
            members: components["schemas"]["MemberID"][];
        };
        FriendsTotal: {
            member: components["schemas"]["MemberID"];
            /**
             * Format: int64
             * @description Length of the list now.
             */
            total: number;
        };
        FriendList: {
            member: components["schemas"]["MemberID"];
            members: components["schemas"]["MemberID"][];
            /** @description There are more. */
            next_cursor?: string;
        };
        FriendsAnswer: {
            /** @description On the member's list. */
            friends: number;
            /** @description How many of them, the member included, have an entry. */
            ranked: number;
            /** @description The member, null when it has no entry. */
            self: components["schemas"]["OwnEntry"] | null;
            entries: components["schemas"]["PositionedEntry"][];
        } & components["schemas"]["State"];
        OwnEntry: {
            /**
             * Format: int64
             * @description Among the friends and the member, numbered as the mode does; with mode=all as the board does.
             */
            position: number;
            /**
             * Format: double
             * @description Share of the board's entries, in per cent, that this one is at least as good as; four decimals.
             */
            percentile: number;
        } & components["schemas"]["EntryFields"];
        AttributeValue: string | number | boolean;
        /** @description A profile as it is sent; what is left out is empty. */
        ProfileFields: {
            /** @description At most 100 bytes that can be seen, without control characters and those that turn the text. */
            display_name?: string;
            /** @description http or https, at most 500 bytes; empty for none. */
            avatar_url?: string;
            /** @description At most 20, and 2,048 bytes as JSON. Names have 1 to 64 bytes; numbers come back as they were written. */
            attributes?: {
                [key: string]: components["schemas"]["AttributeValue"];
            };
        };
        /** @description Changes of a profile; what is left out stays, null makes it empty. */
        ProfilePatch: {
            /** @description At most 100 bytes that can be seen, without control characters and those that turn the text. */
            display_name?: string | null;
            /** @description http or https, at most 500 bytes; empty for none. */
            avatar_url?: string | null;
            /** @description By name; null takes one away. All that the member has then are at most 20, and 2,048 bytes as JSON. */
            attributes?: {
                [key: string]: components["schemas"]["AttributeValue"] | null;
            } | null;
        };
        /** @description What was put, in the order of the names' bytes. */
        Attributes: {
            [key: string]: components["schemas"]["AttributeValue"];
        };
        /** @description What is shown of a member beside an entry. */
        Profile: {
            display_name: string;
            avatar_url: string;
            attributes: components["schemas"]["Attributes"];
        };
        MemberProfile: {
            member: components["schemas"]["MemberID"];
            display_name: string;
            avatar_url: string;
            attributes: components["schemas"]["Attributes"];
            /** @description When it was last changed. */
            updated_time: components["schemas"]["Time"];
            /** @description For keys of scope admin: names that were taken away, the newest first. A key of scope write cannot give them again. */
            reset_names?: string[];
        };
        /**
         * @description What a key may do; each includes the ones before it.
         * @enum {string}
         */
        Scope: "read" | "write" | "admin";
        /** @description What the key may ask for in a second; null is what the server's settings say. */
        KeyQuota: {
            /** Format: int64 */
            requests_per_second: number | null;
            /**
             * Format: int64
             * @description Entries submitted.
             */
            rows_per_second: number | null;
        };
        /** @description What the key may ask for in a second; null is what the server's settings say. */
        KeyQuotaGiven: {
            /** Format: int64 */
            requests_per_second?: number | null;
            /**
             * Format: int64
             * @description Entries submitted.
             */
            rows_per_second?: number | null;
        };
        IssuerName: string;
        IssuerRules: {
            /** @description The claim iss of its tokens, byte for byte. */
            issuer: string;
            /** @description One of the claim aud of its tokens. */
            audience: string;
            /** @description Its public keys, a JSON Web Key Set; or jwks_url. */
            jwks?: {
                keys: {
                    [key: string]: unknown;
                }[];
            };
            /**
             * @description Where they are, by https; or jwks.
             * @example https://login.game1.example/.well-known/jwks.json
             */
            jwks_url?: string;
            /** @description How its tokens may be signed; all three when left out. */
            algorithms?: ("RS256" | "ES256" | "EdDSA")[];
            /** @description The claim that names the player, a text; sub when left out. */
            member_claim?: string;
            /** @description What member ids have before that; nothing when left out. Of two issuers no prefix begins like the other. */
            prefix?: string;
            /** @description The claim that lists boards of a token: names, and prefixes followed by *. Left out: tokens are for all boards. */
            boards_claim?: string;
            /**
             * @description How long after it was issued (iat) a token is taken, 1m to 168h; 24h when left out.
             * @example 1h
             */
            max_age?: string;
            /**
             * Format: int64
             * @description Of all its players together; 0, and by default: any number.
             */
            requests_per_second?: number;
            /**
             * Format: int64
             * @description Of all its players together; 0, and by default: any number.
             */
            rows_per_second?: number;
            /** @description Not looked at. */
            name?: string;
            /** @description Not looked at. */
            passed_over?: {
                [key: string]: unknown;
            }[];
            /**
             * Format: date-time
             * @description Not looked at.
             */
            created_time?: string;
            /**
             * Format: date-time
             * @description Not looked at.
             */
            updated_time?: string;
        };
        Issuer: {
            name: components["schemas"]["IssuerName"];
            /** @description The claim iss of its tokens, byte for byte. */
            issuer: string;
            /** @description One of the claim aud of its tokens. */
            audience: string;
            /** @description Its public keys, a JSON Web Key Set; or jwks_url. */
            jwks?: {
                keys: {
                    [key: string]: unknown;
                }[];
            };
            /**
             * @description Where they are, by https; or jwks.
             * @example https://login.game1.example/.well-known/jwks.json
             */
            jwks_url?: string;
            /** @description How its tokens may be signed; all three when left out. */
            algorithms: ("RS256" | "ES256" | "EdDSA")[];
            /** @description The claim that names the player, a text; sub when left out. */
            member_claim: string;
            /** @description What member ids have before that; nothing when left out. Of two issuers no prefix begins like the other. */
            prefix: string;
            /** @description The claim that lists boards of a token: names, and prefixes followed by *. Left out: tokens are for all boards. */
            boards_claim?: string;
            /**
             * @description How long after it was issued (iat) a token is taken, 1m to 168h; 24h when left out.
             * @example 1h
             */
            max_age: string;
            /**
             * Format: int64
             * @description Of all its players together; 0, and by default: any number.
             */
            requests_per_second?: number;
            /**
             * Format: int64
             * @description Of all its players together; 0, and by default: any number.
             */
            rows_per_second?: number;
            /** @description Keys of its set by which no token is verified; absent when there are none. Of jwks_url: as the answering server last found them, so absent before its first token. */
            passed_over?: {
                /** @description Empty when the key has none. */
                kid: string;
                /** @example has 1024 bits, want 2048 to 4096 */
                reason: string;
            }[];
            /** Format: date-time */
            created_time: string;
            /** Format: date-time */
            updated_time: string;
        };
        IssuerList: {
            issuers: components["schemas"]["Issuer"][];
            /** @description Absent on the last page. */
            next_cursor?: string;
        };
        TokenRequest: {
            member: components["schemas"]["MemberID"];
            /** @description Names of boards, and prefixes followed by *; null, and by default: all boards. */
            boards?: string[] | null;
            /** @description How long it is good, 1s to 24h, as in 15m; 1h when left out. */
            ttl?: string;
        };
        NewToken: {
            /** @description What goes into Authorization, after Bearer. */
            token: string;
            member: components["schemas"]["MemberID"];
            /** @description Null: all boards. */
            boards: string[] | null;
            /** Format: date-time */
            expires_at: string;
        };
        /** @description Nothing is to be said of a play before it is begun. */
        PlayRequest: Record<string, never>;
        Play: {
            /** @description What a submission of this player to this board is sent with, once, as play. */
            play: string;
            board: components["schemas"]["BoardName"];
            member: components["schemas"]["MemberID"];
            /** @description By the clock of the database, as is the time of the submission. */
            started_time: components["schemas"]["Time"];
            /** @description By the board's rule players.min_time as it is now. */
            submit_after: components["schemas"]["Time"];
            /** @description By players.max_time. */
            submit_before: components["schemas"]["Time"];
        };
        KeptKey: {
            /**
             * @description How long the browser keeps the key: a duration from 1m to 12h. Without it 12h.
             * @example 1h
             */
            ttl?: string;
        };
        TokenRotation: {
            /** @description How long tokens that were signed before are taken, 0s to 24h, as in 1h; 24h when left out. 0s ends all tokens of this service. */
            overlap?: string;
        };
        TokenKeys: {
            keys: {
                /** @enum {string} */
                kty: "OKP";
                /** @enum {string} */
                crv: "Ed25519";
                /** @enum {string} */
                alg: "EdDSA";
                /** @enum {string} */
                use: "sig";
                kid: string;
                x: string;
            }[];
        };
        BarRequest: {
            /**
             * Format: date-time
             * @description A time that is over, by the database's clock; now when left out. A bar that is there only moves on.
             */
            not_before?: string;
        };
        Bar: {
            member: components["schemas"]["MemberID"];
            /**
             * Format: date-time
             * @description Tokens that were issued before are refused.
             */
            not_before: string;
        };
        Key: {
            /** @description Stable for the life of the key. */
            id: string;
            /** @description For people, 1 to 100 bytes. */
            name: string;
            scope: components["schemas"]["Scope"];
            /** @description Boards that the key is for: names, and prefixes followed by *; null: all boards, those that are made later included. */
            boards: string[] | null;
            /**
             * Format: date-time
             * @description Null: never.
             */
            expires_at: string | null;
            /** @description Null: what the server's settings say. */
            quota: components["schemas"]["KeyQuota"] | null;
            /** Format: date-time */
            created_time: string | null;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updated_time: string | null;
            /**
             * Format: date-time
             * @description To the minute, up to a minute late; null: never.
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @description Null: it was not.
             */
            revoked_at: string | null;
            /**
             * Format: date-time
             * @description Until when the secret before the last rotation is valid; null: there is none.
             */
            previous_secret_until: string | null;
            /** @description Who signed in, when the key is a session, which can only be revoked: the verified email address or the subject at the identity provider. Absent for other keys. */
            person?: string;
            /** @description What the identity provider said of that person that the scope is for. */
            role?: string;
        };
        NewKey: {
            /** @description Stable for the life of the key. */
            id: string;
            /** @description The whole text that goes into Authorization, lbk_<id>_<secret>, shown this once. */
            secret: string;
            /** @description For people, 1 to 100 bytes. */
            name: string;
            scope: components["schemas"]["Scope"];
            /** @description Boards that the key is for: names, and prefixes followed by *; null: all boards, those that are made later included. */
            boards: string[] | null;
            /**
             * Format: date-time
             * @description Null: never.
             */
            expires_at: string | null;
            /** @description Null: what the server's settings say. */
            quota: components["schemas"]["KeyQuota"] | null;
            /** Format: date-time */
            created_time: string | null;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updated_time: string | null;
            /**
             * Format: date-time
             * @description To the minute, up to a minute late; null: never.
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @description Null: it was not.
             */
            revoked_at: string | null;
            /**
             * Format: date-time
             * @description Until when the secret before the last rotation is valid; null: there is none.
             */
            previous_secret_until: string | null;
        };
        Session: {
            /** @description People can sign in: the settings name an identity provider. */
            sign_in: boolean;
            /** @description The key of the request: with the member person when it is the session of a person who signed in. Null without one. */
            key: components["schemas"]["Key"] | null;
        };
        KeyList: {
            keys: components["schemas"]["Key"][];
            /** @description Absent on the last page. */
            next_cursor?: string;
        };
        KeyRequest: {
            /** @description For people: 1 to 100 bytes of UTF-8 without control characters. */
            name: string;
            scope: components["schemas"]["Scope"];
            /** @description Names of boards, and prefixes followed by *, such as game1-*; null, and by default: all boards. */
            boards?: string[] | null;
            /**
             * Format: date-time
             * @description A time to come, by the database's clock; 422 otherwise. Null, and by default: never.
             */
            expires_at?: string | null;
            /** @description Null, and by default: what the server's settings say. */
            quota?: components["schemas"]["KeyQuotaGiven"] | null;
        };
        KeyPatch: {
            /** @description For people: 1 to 100 bytes of UTF-8 without control characters. */
            name?: string;
            scope?: components["schemas"]["Scope"];
            /** @description Names of boards, and prefixes followed by *, such as game1-*; null: all boards. */
            boards?: string[] | null;
            /**
             * Format: date-time
             * @description A time to come, by the database's clock, or the one that the key has; 422 otherwise, DELETE ends a key now. Null: never.
             */
            expires_at?: string | null;
            /** @description Null: what the server's settings say. */
            quota?: components["schemas"]["KeyQuotaGiven"] | null;
        };
        KeyRotation: {
            /** @description How long the old secret stays valid, from 0s to 720h0m0s, as in 24h; by default not at all. */
            overlap?: string;
        };
        Endpoint: {
            name: string;
            /** @description It signs what is sent; shown this once, of a new one and by a rotation. */
            secret?: string;
            url: string;
            /** @description Of the events that it gets; null: all, those that later versions add included. */
            kinds: components["schemas"]["EventKind"][] | null;
            /** @description Names of boards, and prefixes followed by *; null: all boards, and events about no single board. */
            boards: string[] | null;
            /** @description Whether it is sent events. */
            enabled: boolean;
            /** @description Whether it may have http and an address that is not public. */
            allow_private: boolean;
            /**
             * @description gone: it answered 410, and was turned off.
             * @enum {string}
             */
            state: "on" | "off" | "gone";
            /** @description Deliveries that wait, counted up to 100,000. */
            waiting: number;
            /**
             * Format: date-time
             * @description Time of the oldest event that waits.
             */
            oldest_waiting_at: string | null;
            /** @description Why the last attempt to deliver that event failed; null: there was none, or nothing waits. */
            last_error: string | null;
            created_time: components["schemas"]["Time"];
            updated_time: components["schemas"]["Time"];
            /**
             * Format: date-time
             * @description Until when the secret before the last rotation signs too; null: there is none.
             */
            previous_secret_until: string | null;
        };
        EndpointList: {
            endpoints: components["schemas"]["Endpoint"][];
            /** @description Absent on the last page. */
            next_cursor?: string;
        };
        EndpointRequest: {
            /** @description https, without user and password; http needs allow_private. */
            url: string;
            /** @description Of the events that it gets; null, and by default: all. */
            kinds?: components["schemas"]["EventKind"][] | null;
            /** @description Names of boards, and prefixes followed by *, such as game1-*; null, and by default: all boards. */
            boards?: string[] | null;
            /** @description Whether it is sent events; true when left out. */
            enabled?: boolean;
            /** @description http and addresses that are not public, where the server's settings allow them; false when left out. */
            allow_private?: boolean;
        };
        /** @description There is nothing to say yet. */
        EndpointTestRequest: Record<string, never>;
        EndpointTest: {
            delivered: boolean;
            /** @description Of its answer; null: there was none. */
            status: number | null;
            /** @description Why it was not delivered. */
            error: string | null;
            /**
             * @description Go duration.
             * @example 12.5ms
             */
            took: string;
        };
        /** @enum {string} */
        DeliveryState: "waiting" | "delivered" | "failed";
        /** @description An event on its way to an endpoint. */
        Delivery: {
            /** @description Of the event: the webhook-id. */
            id: string;
            kind: components["schemas"]["EventKind"];
            time: components["schemas"]["Time"];
            state: components["schemas"]["DeliveryState"];
            attempts: number;
            /** Format: date-time */
            last_attempt_at: string | null;
            /**
             * Format: date-time
             * @description Null: there is none.
             */
            next_attempt_at: string | null;
            /** @description Of the last answer; null: there was none. */
            status: number | null;
            /** @description Why the last attempt failed. */
            error: string | null;
            payload: components["schemas"]["AnyEvent"];
        };
        /** @description What is sent. The data of each kind is in the section webhooks. */
        AnyEvent: {
            /** @description The webhook-id. */
            id: string;
            /** @description The kind of the event. */
            type: string;
            timestamp: components["schemas"]["Time"];
            data: {
                [key: string]: unknown;
            };
        };
        DeliveryList: {
            deliveries: components["schemas"]["Delivery"][];
            /** @description Absent on the last page. */
            next_cursor?: string;
        };
        /** @description Either since or event. */
        ReplayRequest: {
            /**
             * Format: date-time
             * @description Events from this moment on.
             */
            since?: string;
            /** @description The id of one event. */
            event?: string;
        };
        Replayed: {
            /** @description How many. */
            events: number;
        };
        /** @enum {string} */
        EventKind: "period.closed" | "board.changed" | "member.hidden" | "member.restored" | "member.erased" | "member.passed" | "submission.held" | "submission.approved" | "submission.rejected";
        /** @description A period of a calendar window or a season is over. */
        PeriodClosedEvent: {
            /** @description The webhook-id: of one period always the same. */
            id: string;
            /** @constant */
            type: "period.closed";
            /** @description When it was closed. */
            timestamp: components["schemas"]["Time"];
            data: {
                board: components["schemas"]["BoardName"];
                window: components["schemas"]["Window"];
                period: string;
                starts_at: components["schemas"]["Time"];
                ends_at: components["schemas"]["Time"];
                /**
                 * Format: int64
                 * @description Changes of the period until its end.
                 */
                seq: number;
                /**
                 * Format: int64
                 * @description Entries.
                 */
                total: number;
                /**
                 * @description Of the ranks.
                 * @enum {string}
                 */
                mode: "strict" | "tied" | "dense";
                /** @description The best entries. */
                top: components["schemas"]["ClosedEntry"][];
            };
        };
        ClosedEntry: {
            member: components["schemas"]["MemberID"];
            /** Format: int64 */
            rank: number;
            /** Format: int64 */
            score: bigint;
            /** Format: int64 */
            tiebreak: bigint;
            /** @description Of boards with tiebreak fields. */
            fields?: {
                [key: string]: bigint;
            };
            created_time: components["schemas"]["Time"];
        };
        BoardChangedEvent: {
            id: string;
            /** @constant */
            type: "board.changed";
            timestamp: components["schemas"]["Time"];
            data: {
                board: components["schemas"]["BoardName"];
                /** @enum {string} */
                change: "created" | "updated" | "deleted";
                /** @description Of its rules, which GET /v1/boards/{board} has. */
                version: number;
            };
        };
        /** @description One of the members is given. */
        HoldRule: {
            /**
             * Format: int64
             * @description The entry would have a better score than this one. With order asc, a lower one.
             */
            above?: bigint;
            /** @description The entry would be among so many first in the board's first window. It is better than the entry at that rank when the commit begins, or fewer are ranked. */
            rank_within?: number;
            /**
             * Format: int64
             * @description The score is more than so much for each second of the play that it was made in.
             */
            per_second?: bigint;
            /**
             * @description Who submits: players, by a token of their own.
             * @enum {string}
             */
            by?: "players";
        };
        /** @enum {string} */
        HeldState: "waiting" | "approved" | "rejected";
        /** @description A submission that waits for an admin, or did. created_time is what its entry has once it is approved, but with policy sum. */
        Held: {
            id: string;
            board: components["schemas"]["BoardName"];
            member: components["schemas"]["MemberID"];
            state: components["schemas"]["HeldState"];
            /** @description Why it was held. */
            reason: string;
            /**
             * Format: int64
             * @description As it was submitted; with policy sum the amount; null: none was, only fields changed.
             */
            score: bigint | null;
            /** @description As submitted, like fields, set, add, op and keep_time. */
            tiebreak?: components["schemas"]["Int64"];
            fields?: components["schemas"]["FieldValues"];
            set?: components["schemas"]["FieldValues"];
            add?: components["schemas"]["FieldValues"];
            op?: components["schemas"]["Policy"];
            /** @constant */
            keep_time?: true;
            /** @description That it brings, on a board with the rule metadata. */
            metadata?: components["schemas"]["Metadata"];
            /** @description The score that it would have made when it came in. */
            new_score: components["schemas"]["Int64"];
            new_tiebreak: components["schemas"]["Int64"];
            created_time: components["schemas"]["Time"];
            held_time: components["schemas"]["Time"];
            /** @description Id of the key, or by whom the player is known. */
            actor: string;
            request_id: string;
            /**
             * Format: date-time
             * @description null while it waits.
             */
            decided_time: string | null;
            /** @description Id of the key. */
            decided_by?: string;
            /** @description Of the one who decided. */
            note?: string;
            /**
             * @description Of an approved one: whether it changed an entry.
             * @enum {string}
             */
            outcome?: "applied" | "unchanged";
        };
        HeldList: {
            held: components["schemas"]["Held"][];
            /** @description There are more. */
            next_cursor?: string;
        };
        Decision: {
            /** @description For the audit; an erasure of the member removes it. */
            note?: string;
        };
        SubmissionEvent: {
            id: string;
            /** @enum {string} */
            type: "submission.held" | "submission.approved" | "submission.rejected";
            timestamp: components["schemas"]["Time"];
            data: {
                member: components["schemas"]["MemberID"];
                /** @description For GET /v1/held/{id}. */
                held_id: string;
                board: components["schemas"]["BoardName"];
                /**
                 * Format: int64
                 * @description As it was submitted.
                 */
                score: bigint;
                /** @description Id of the key, of a decision. */
                decided_by?: string;
            };
        };
        /** @description A member was passed by another one, on a board whose rule notify has it told. At most one a minute and member. */
        MemberPassedEvent: {
            id: string;
            /** @constant */
            type: "member.passed";
            /** @description When it was noticed, a second or so after the change. */
            timestamp: components["schemas"]["Time"];
            data: {
                /** @description The one that was passed. */
                member: components["schemas"]["MemberID"];
                by: {
                    member: components["schemas"]["MemberID"];
                    /**
                     * Format: int64
                     * @description After the change.
                     */
                    score: bigint;
                    /**
                     * Format: int64
                     * @description Before the change.
                     */
                    previous_score: bigint;
                };
                board: components["schemas"]["BoardName"];
                window: components["schemas"]["Window"];
                period: string;
                /**
                 * Format: int64
                 * @description Of the change: of two notices of one period the later one has the greater.
                 */
                seq: number;
                /**
                 * Format: int64
                 * @description Of the member, at that change.
                 */
                score: bigint;
            };
        };
        MemberEvent: {
            id: string;
            /** @enum {string} */
            type: "member.hidden" | "member.restored" | "member.erased";
            timestamp: components["schemas"]["Time"];
            data: {
                member: components["schemas"]["MemberID"];
                /** @description Absent: everywhere. */
                board?: components["schemas"]["BoardName"];
                reason?: string;
                actor?: string;
            };
        };
        Rebuild: {
            /**
             * @description full (when left out) builds the copy again; incremental catches up by the change log. recompute computes the entries of a derived board from its sources.
             * @enum {string}
             */
            kind?: "full" | "incremental" | "recompute";
            window?: components["schemas"]["Window"];
            /** @description current when left out. */
            period?: string;
        };
        FoundMembers: {
            members: {
                member: components["schemas"]["MemberID"];
                profile: components["schemas"]["MemberProfile"] | null;
            }[];
            /** @description By id: there are more open periods than are searched, so members without a profile may be missing. Ask the board for the member. */
            partial: boolean;
            /** @description There are more. */
            next_cursor?: string;
        };
        StatusAnswer: {
            server: components["schemas"]["ServerStatus"];
            boards: components["schemas"]["BoardStatus"][];
            /** @description There are more. */
            next_cursor?: string;
        };
        ServerStatus: {
            /** @description Of the program. */
            version: string;
            /** @description The commit that it was built from; empty when unknown. */
            commit: string;
            started_at: components["schemas"]["Time"];
            /** @enum {string} */
            mysql: "ok" | "away";
            /**
             * @description none: the server works without Redis.
             * @enum {string}
             */
            redis: "ok" | "away" | "none";
            /** @description Of all routes of /v1, refused ones too. */
            requests_per_second: number;
            /** @description Answers about boards. Events of streams are none. */
            reads_per_second: number;
            /** @description Entries submitted through this server, whatever became of them, and removals. */
            writes_per_second: number;
            /** @description Open on this server. */
            streams: number;
            purge: components["schemas"]["PurgeStatus"];
        };
        /** @description What is left to delete of boards and periods that are gone for readers, as this server's housekeeping found once a minute. */
        PurgeStatus: {
            /** @description Deleted boards that have rows. 100 may be more. */
            boards: number;
            /**
             * Format: int64
             * @description Entries that they and periods that are given up have.
             */
            entries: number;
        };
        BoardStatus: {
            board: components["schemas"]["BoardName"];
            /** @description The title of the board, if it has one. */
            display_name?: string;
            /** @enum {string} */
            visibility: "public" | "private";
            /** @description The board's first, of which the rest tells. */
            window: string;
            /** @description The current one; null when there is none, as between two seasons. */
            period: string | null;
            /** Format: int64 */
            entries: number;
            seq: components["schemas"]["Seq"];
            /** @description Of the commit that led to seq. */
            as_of: components["schemas"]["Time"] | null;
            /** @description MySQL could not be asked: this is what the server knew last. */
            stale: boolean;
            /** @description Of the period in Redis; null when there is none or Redis is away. */
            copy: components["schemas"]["CopyStatus"] | null;
            /** @description The period is whole in the memory of this server. */
            resident: boolean;
            /** @description Null for a board that is not derived. */
            derived: components["schemas"]["DerivedStatus"] | null;
        };
        CopyStatus: {
            seq: components["schemas"]["Seq"];
            /**
             * Format: int64
             * @description In the copy, which may have the best only.
             */
            entries: number;
        };
        DerivedStatus: {
            /**
             * Format: int64
             * @description Age of the oldest change of its sources that the board lacks, 0 when it has all; null while its entries are being computed, or MySQL is away.
             */
            lag_ms: number | null;
        };
        Run: {
            /** Format: int64 */
            id: number;
            /** @description Empty when the board is gone. */
            board: string;
            window: string;
            period: string;
            /**
             * @description index builds the rank index in MySQL. reopen records a correction of a closed period, or that it was opened again. recompute computes the entries of a derived board.
             * @enum {string}
             */
            kind: "full" | "incremental" | "index" | "reopen" | "recompute";
            /**
             * @description memory, of a refused run: Redis uses more than 80 % of its maxmemory, and the board was not read since the tick before; recorded once, not at every tick. clock, of a run of kind reopen: the database's clock had closed the period before its end, and went back.
             * @enum {string}
             */
            reason: "admin" | "command" | "schedule" | "dynamic" | "demand" | "clock" | "memory";
            /** @description Who requested it: a key or a host; empty for the service itself. */
            actor: string;
            /**
             * @description shared: a run that began after this one was asked for did the work. refused: the copy in place is newer. failed: error says why; a run of which nothing was heard for 20 s has failed because its server ended.
             * @enum {string}
             */
            state: "running" | "done" | "shared" | "refused" | "failed";
            from_seq: components["schemas"]["Seq"];
            to_seq: components["schemas"]["Seq"];
            /** Format: int64 */
            rows: number;
            started_at: components["schemas"]["Time"];
            /**
             * @description Go duration.
             * @example 12.5ms
             */
            took: string;
            /** @description Why, when failed. */
            error?: string;
        };
        RunList: {
            runs: components["schemas"]["Run"][];
            /** @description There are more. */
            next_cursor?: string;
        };
        Derivation: {
            board: components["schemas"]["BoardName"];
            /** @description Of the board's period. */
            seq: components["schemas"]["Seq"];
            as_of: components["schemas"]["Time"];
            /**
             * @description following: the entries are those of one state of the sources. incomplete: likewise, but a source has nothing to count until a board is made or changed; its state says why. rolling: likewise, but the sources are others now. computing: the entries are being computed again and may be of several states.
             * @enum {string}
             */
            state: "following" | "incomplete" | "rolling" | "computing";
            /**
             * Format: int64
             * @description Changes of the sources listed that the entries do not reflect yet; it says so while state is following only.
             */
            lag: number;
            /** @description Those that the caller may read, in the order of the rule, with last from the current period backwards; then those that have left and still count. */
            sources: components["schemas"]["SourceState"][];
        };
        SourceState: {
            board: string;
            /** @description Empty while the board that decides does not exist. */
            window: string;
            /** @description The period's name; it need not have begun. Empty when there is none. */
            period: string;
            weight: components["schemas"]["Weight"];
            /** @description The state of the source that the entries reflect, 0 when they reflect none. */
            seq: components["schemas"]["Seq"];
            /** @description The state that the source is in. */
            last_seq: components["schemas"]["Seq"];
            /**
             * @description present: its entries count. empty: the period has no entries yet. no_board: no board has the name. no_window: the board does not have the window. no_period: the window cannot have a period of this name. derived: a derived board is no source. left: it counts until the next step.
             * @enum {string}
             */
            state: "present" | "empty" | "no_board" | "no_window" | "no_period" | "derived" | "left";
        };
        Verification: {
            board: components["schemas"]["BoardName"];
            window: components["schemas"]["Window"];
            /** @description The period's name. */
            period: string;
            equal: boolean;
            /** @description The state at which both were compared; that of MySQL when there is no copy to compare. */
            seq: components["schemas"]["Seq"];
            /**
             * Format: int64
             * @description Entries compared; 0 when there is no copy.
             */
            checked: number;
            /**
             * Format: int64
             * @description Entries of the period in that state; a copy may have only the best of them.
             */
            total: number;
            difference?: components["schemas"]["Difference"];
            /** @description What is wrong, in words, or that there is no copy. */
            detail?: string;
        };
        /** @description The first difference; null where one of the two ends. */
        Difference: {
            /**
             * Format: int64
             * @description Left out against sources, where the first member in the order of bytes is shown.
             */
            rank?: number;
            copy: components["schemas"]["Entry"] | null;
            truth: components["schemas"]["Entry"] | null;
        };
        Entry: {
            member: components["schemas"]["MemberID"];
            score: components["schemas"]["Int64"];
            tiebreak: components["schemas"]["Int64"];
            created_time: components["schemas"]["Time"];
        };
        Health: {
            /** @enum {string} */
            status: "ok" | "degraded" | "unavailable" | "draining";
            /** @description ok or a reason, per dependency. */
            checks?: {
                [key: string]: string;
            };
        };
        /** @description Why something was not done (RFC 9457). */
        Problem: {
            type: components["schemas"]["ProblemType"];
            title: string;
            status: number;
            detail: string;
            errors?: components["schemas"]["InputError"][];
            /** @description The run that failed, of /problems/run-failed. */
            run?: components["schemas"]["Run"];
            /** @description The quotas that are used up, of /problems/quota-exceeded and /problems/too-many-attempts. */
            "violated-policies"?: ("requests" | "rows" | "heavy" | "attempts")[];
            request_id?: components["schemas"]["RequestID"];
        };
        /**
         * @description The id of the request, also in X-Request-Id, the log and the audit. The reason of a rejected entry has none.
         * @example 9f86d081884c7d659a2feaa0
         */
        RequestID: string;
        /**
         * @description The kind of problem: stable, and the address of a page that says what to do. Later versions may have more; an unknown one means what its status means. Those of 405, 499 (in metrics only) and 500 are not of one route.
         * @enum {string}
         */
        ProblemType: "/problems/malformed-request" | "/problems/unauthorized" | "/problems/forbidden" | "/problems/sign-in-refused" | "/problems/no-role" | "/problems/override-not-allowed" | "/problems/not-found" | "/problems/board-not-found" | "/problems/period-not-found" | "/problems/not-ranked" | "/problems/member-hidden" | "/problems/not-hidden" | "/problems/key-not-found" | "/problems/issuer-not-found" | "/problems/bar-not-found" | "/problems/endpoint-not-found" | "/problems/event-not-found" | "/problems/held-not-found" | "/problems/run-not-found" | "/problems/not-derived" | "/problems/profile-not-found" | "/problems/method-not-allowed" | "/problems/request-timeout" | "/problems/quota-exceeded" | "/problems/too-many-attempts" | "/problems/held-decided" | "/problems/board-conflict" | "/problems/key-revoked" | "/problems/key-overlap" | "/problems/period-closed" | "/problems/seq-ahead" | "/problems/aborted" | "/problems/history-changed" | "/problems/log-pruned" | "/problems/condition-unmet" | "/problems/precondition-failed" | "/problems/body-too-large" | "/problems/not-json" | "/problems/idempotency-key-reused" | "/problems/invalid-board" | "/problems/invalid-member" | "/problems/invalid-profile" | "/problems/invalid-friends" | "/problems/too-many-friends" | "/problems/score-out-of-range" | "/problems/delta-out-of-range" | "/problems/score-overflow" | "/problems/invalid-number" | "/problems/invalid-fields" | "/problems/invalid-metadata" | "/problems/invalid-created-time" | "/problems/board-not-started" | "/problems/board-ended" | "/problems/mode-not-available" | "/problems/boards-differ" | "/problems/too-many-boards" | "/problems/between-seasons" | "/problems/derived-board" | "/problems/invalid-hiding" | "/problems/invalid-reset" | "/problems/name-reset" | "/problems/invalid-key" | "/problems/invalid-issuer" | "/problems/invalid-token" | "/problems/invalid-play" | "/problems/play-needed" | "/problems/play-gone" | "/problems/play-time" | "/problems/play-rate" | "/problems/held-for-review" | "/problems/too-many-held" | "/problems/review-needed" | "/problems/invalid-decision" | "/problems/invalid-endpoint" | "/problems/too-many-endpoints" | "/problems/client-closed" | "/problems/internal" | "/problems/outcome-unknown" | "/problems/overloaded" | "/problems/unavailable" | "/problems/provider-away" | "/problems/unknown-rule" | "/problems/run-failed" | "/problems/timeout";
        InputError: {
            /** @description JSON pointer into the body. */
            pointer?: string;
            /** @description Parameter of the path or the query, or header. */
            parameter?: string;
            detail: string;
        };
    };
    responses: never;
    parameters: {
        /** @example 3690000000000000000 */
        heldParam: string;
        /**
         * @description Name of the issuer.
         * @example game1
         */
        issuerParam: components["schemas"]["IssuerName"];
        /**
         * @description Name of the board.
         * @example demo
         */
        boardParam: components["schemas"]["BoardName"];
        /**
         * @description Id of the member, percent-encoded.
         * @example 1
         */
        memberParam: components["schemas"]["MemberID"];
        /** @description One of the board's windows; the first by default. A window that the board does not have is period-not-found, unless period names a period of a window that it had (all_time has one). */
        windowParam: components["schemas"]["Window"];
        /** @description current, previous, or the name of a period: 2026-11-20T13 (hour), 2026-11-20 (day), 2026-W47 (week), 2026-11 (month), 2026-Q4 (quarter), 2026 (year), the name of a season, all_time. Between seasons current is the last one. A period that is over and had no submissions is empty, also the one that ended last before the board was created; all_time and the first season have no previous one. A name that no period of the window can have is malformed; period-not-found is a period that has not begun, ended earlier before the board was made, is no longer kept, or is skipped by the board's time zone. */
        periodParam: string;
        /** @description Tell of each result which rank the member has and had. */
        standingsParam: boolean;
        /** @description How ties are numbered in standings; by default as the board does. */
        standingModeParam: components["schemas"]["Mode"];
        /** @description Name in each standing the friends that the member has passed. The lists may be a second old. */
        passedParam: boolean;
        /** @description How ties are numbered; by default as the board does. Strict and tied ranks are known at any depth, dense ones down to 100,000 entries; beyond is 422, /problems/mode-not-available. all gives strict_rank, tied_rank and dense_rank in place of rank: dense_rank is known on the first 10,000 entries, null where it is not known. */
        modeParam: components["schemas"]["QueryMode"];
        /** @description Answer from a state at least this new: the seq of a write makes it visible to the read. A board that is deleted and made again counts from 1: within 0.2 s another server may still answer from the old one, at its seq. */
        minSeqParam: number;
        /** @description Show profiles with the entries. They may be up to 30 seconds old, unless put through the same server. When they cannot be looked up the answer shows those at hand and is stale. */
        profilesParam: boolean;
        /** @description Show the metadata of entries, on boards with the rule metadata. It always belongs to the entry that it is shown with. What is not in memory takes a question to MySQL, and is 503 while MySQL is away. */
        metadataParam: boolean;
        /** @description ETags of answers at hand. */
        ifNoneMatchParam: string;
        /** @description The ETag of the board as it was read: 412 when it has changed since. *: only when there is a board. */
        ifMatchParam: string;
        /**
         * @description Names of 1 to 50 boards, separated by commas. Either these or labels.
         * @example demo
         */
        boardsParam: string;
        /** @description In place of boards: the boards with all of these labels that the caller may read, at most 50; 200 with those that the caller may not read. A label set through another server counts within a second. */
        boardLabelsParam: string;
        /** @description One of the boards' windows; the first of each by default. A board without the window or the period is listed in absent; when none has it, that is period-not-found. */
        boardsWindowParam: components["schemas"]["Window"];
        /** @description How ties are numbered: strict or tied, known at any depth. By default as the boards do when all do the same, strict otherwise. all gives both, and dense_rank null; dense is 422, /problems/mode-not-available. */
        boardsModeParam: components["schemas"]["QueryMode"];
        /** @description Answer from states at least this new: board:seq pairs separated by commas, of any of the boards. The seq of a write makes it visible to the read. */
        boardsMinSeqParam: string;
        /** @description Boards that have all of these labels: label:value pairs separated by commas, 1 to 16. */
        labelsParam: string;
        /** @description Length of the page. */
        listLimitParam: number;
        /** @description Closed periods too, each recorded as a run of kind reopen; otherwise they stay as they are. Cached answers may outlive the change. */
        hideReopenParam: boolean;
        /** @description Why, for the log: at most 200 bytes. */
        restoreReasonParam: string;
        /** @description Who did it, for the log: at most 128 bytes; by default the id of the key. */
        restoreActorParam: string;
        /** @description 1 to 128 visible ASCII characters, new for each request. Answers are remembered for 24 hours, as the server is configured. */
        idempotencyKeyParam: string;
        /**
         * @description Id of the key.
         * @example k7f3a9c2e1b04d58
         */
        keyParam: string;
        /**
         * @description Name of the endpoint: [a-z0-9][a-z0-9._-]{0,63}.
         * @example game
         */
        endpointParam: string;
        /** @description next_cursor of the page before. */
        cursorParam: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export interface operations {
    listBoards: {
        parameters: {
            query?: {
                /** @description Boards that have all of these labels: label:value pairs separated by commas, 1 to 16. */
                labels?: components["parameters"]["labelsParam"];
                /** @description Length of the page. */
                limit?: components["parameters"]["listLimitParam"];
                /** @description next_cursor of the page before. */
                cursor?: components["parameters"]["cursorParam"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getBoard: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags of answers at hand. */
                "If-None-Match"?: components["parameters"]["ifNoneMatchParam"];
            };
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    putBoard: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the board as it was read: 412 when it has changed since. *: only when there is a board. */
                "If-Match"?: components["parameters"]["ifMatchParam"];
                /** @description *: only create a board; 412 when there is one. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "title": "Autumn run",
                 *       "order": "desc",
                 *       "policy": "best",
                 *       "mode": "tied"
                 *     }
                 */
                "application/json": components["schemas"]["BoardRules"];
            };
        };
        responses: never;
    };
    deleteBoard: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    patchBoard: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the board as it was read: 412 when it has changed since. *: only when there is a board. */
                "If-Match"?: components["parameters"]["ifMatchParam"];
            };
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "title": "Spring run",
                 *       "limits": {
                 *         "max_score": null
                 *       }
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["BoardPatch"];
                /**
                 * @example {
                 *       "visibility": "private"
                 *     }
                 */
                "application/json": components["schemas"]["BoardPatch"];
            };
        };
        responses: never;
    };
    submitScores: {
        parameters: {
            query?: {
                /** @description Tell of each result which rank the member has and had. */
                standings?: components["parameters"]["standingsParam"];
                /** @description How ties are numbered in standings; by default as the board does. */
                mode?: components["parameters"]["standingModeParam"];
                /** @description Name in each standing the friends that the member has passed. The lists may be a second old. */
                friends?: components["parameters"]["passedParam"];
            };
            header?: {
                /** @description 1 to 128 visible ASCII characters, new for each request. Answers are remembered for 24 hours, as the server is configured. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKeyParam"];
            };
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "entries": [
                 *         {
                 *           "member": "u1",
                 *           "score": 90
                 *         },
                 *         {
                 *           "member": "u2",
                 *           "score": 101,
                 *           "tiebreak": 7
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["Submit"];
            };
        };
        responses: never;
    };
    beginPlay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["PlayRequest"];
            };
        };
        responses: never;
    };
    submitMultiBoard: {
        parameters: {
            query?: {
                /** @description Tell of each result which rank the member has and had. */
                standings?: components["parameters"]["standingsParam"];
                /** @description How ties are numbered in standings; by default as the board does. */
                mode?: components["parameters"]["standingModeParam"];
                /** @description Name in each standing the friends that the member has passed. The lists may be a second old. */
                friends?: components["parameters"]["passedParam"];
            };
            header?: {
                /** @description 1 to 128 visible ASCII characters, new for each request. Answers are remembered for 24 hours, as the server is configured. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKeyParam"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "entries": [
                 *         {
                 *           "board": "sound",
                 *           "member": "u1",
                 *           "score": 9
                 *         },
                 *         {
                 *           "board": "difficulty",
                 *           "member": "u1",
                 *           "score": 4
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["MultiBoardSubmit"];
            };
        };
        responses: never;
    };
    getMember: {
        parameters: {
            query?: {
                /** @description One of the board's windows; the first by default. A window that the board does not have is period-not-found, unless period names a period of a window that it had (all_time has one). */
                window?: components["parameters"]["windowParam"];
                /** @description current, previous, or the name of a period: 2026-11-20T13 (hour), 2026-11-20 (day), 2026-W47 (week), 2026-11 (month), 2026-Q4 (quarter), 2026 (year), the name of a season, all_time. Between seasons current is the last one. A period that is over and had no submissions is empty, also the one that ended last before the board was created; all_time and the first season have no previous one. A name that no period of the window can have is malformed; period-not-found is a period that has not begun, ended earlier before the board was made, is no longer kept, or is skipped by the board's time zone. */
                period?: components["parameters"]["periodParam"];
                /** @description How ties are numbered; by default as the board does. Strict and tied ranks are known at any depth, dense ones down to 100,000 entries; beyond is 422, /problems/mode-not-available. all gives strict_rank, tied_rank and dense_rank in place of rank: dense_rank is known on the first 10,000 entries, null where it is not known. */
                mode?: components["parameters"]["modeParam"];
                /** @description Answer from a state at least this new: the seq of a write makes it visible to the read. A board that is deleted and made again counts from 1: within 0.2 s another server may still answer from the old one, at its seq. */
                min_seq?: components["parameters"]["minSeqParam"];
                /** @description Show profiles with the entries. They may be up to 30 seconds old, unless put through the same server. When they cannot be looked up the answer shows those at hand and is stale. */
                profiles?: components["parameters"]["profilesParam"];
                /** @description Show the metadata of entries, on boards with the rule metadata. It always belongs to the entry that it is shown with. What is not in memory takes a question to MySQL, and is 503 while MySQL is away. */
                metadata?: components["parameters"]["metadataParam"];
            };
            header?: {
                /** @description ETags of answers at hand. */
                "If-None-Match"?: components["parameters"]["ifNoneMatchParam"];
            };
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    removeMember: {
        parameters: {
            query?: {
                /** @description One of the board's windows; the first by default. A window that the board does not have is period-not-found, unless period names a period of a window that it had (all_time has one). */
                window?: components["parameters"]["windowParam"];
                /** @description current, previous, or the name of a period: 2026-11-20T13 (hour), 2026-11-20 (day), 2026-W47 (week), 2026-11 (month), 2026-Q4 (quarter), 2026 (year), the name of a season, all_time. Between seasons current is the last one. A period that is over and had no submissions is empty, also the one that ended last before the board was created; all_time and the first season have no previous one. A name that no period of the window can have is malformed; period-not-found is a period that has not begun, ended earlier before the board was made, is no longer kept, or is skipped by the board's time zone. */
                period?: components["parameters"]["periodParam"];
                /** @description Correct a closed period, recorded as a run of kind reopen. Cached answers may outlive the correction. */
                reopen?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    hideMember: {
        parameters: {
            query?: {
                /** @description Closed periods too, each recorded as a run of kind reopen; otherwise they stay as they are. Cached answers may outlive the change. */
                reopen?: components["parameters"]["hideReopenParam"];
            };
            header?: never;
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "aimbot"
                 *     }
                 */
                "application/json": components["schemas"]["HideRequest"];
            };
        };
        responses: never;
    };
    restoreMember: {
        parameters: {
            query?: {
                /** @description Closed periods too, each recorded as a run of kind reopen; otherwise they stay as they are. Cached answers may outlive the change. */
                reopen?: components["parameters"]["hideReopenParam"];
                /** @description Why, for the log: at most 200 bytes. */
                reason?: components["parameters"]["restoreReasonParam"];
                /** @description Who did it, for the log: at most 128 bytes; by default the id of the key. */
                actor?: components["parameters"]["restoreActorParam"];
            };
            header?: never;
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    hideMemberEverywhere: {
        parameters: {
            query?: {
                /** @description Closed periods too, each recorded as a run of kind reopen; otherwise they stay as they are. Cached answers may outlive the change. */
                reopen?: components["parameters"]["hideReopenParam"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "aimbot"
                 *     }
                 */
                "application/json": components["schemas"]["HideRequest"];
            };
        };
        responses: never;
    };
    restoreMemberEverywhere: {
        parameters: {
            query?: {
                /** @description Closed periods too, each recorded as a run of kind reopen; otherwise they stay as they are. Cached answers may outlive the change. */
                reopen?: components["parameters"]["hideReopenParam"];
                /** @description Why, for the log: at most 200 bytes. */
                reason?: components["parameters"]["restoreReasonParam"];
                /** @description Who did it, for the log: at most 128 bytes; by default the id of the key. */
                actor?: components["parameters"]["restoreActorParam"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    moderateMembers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "action": "hide",
                 *       "members": [
                 *         "u1",
                 *         "u2"
                 *       ],
                 *       "reason": "aimbot"
                 *     }
                 */
                "application/json": components["schemas"]["ModerationRequest"];
            };
        };
        responses: never;
    };
    moderateMembersEverywhere: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "action": "hide",
                 *       "members": [
                 *         "u1",
                 *         "u2"
                 *       ],
                 *       "reason": "aimbot"
                 *     }
                 */
                "application/json": components["schemas"]["ModerationRequest"];
            };
        };
        responses: never;
    };
    listHidden: {
        parameters: {
            query?: {
                /** @description Hidden on this board, or everywhere. */
                board?: components["schemas"]["BoardName"];
                /** @description Only this member. */
                member?: components["schemas"]["MemberID"];
                /** @description Length of the page. */
                limit?: components["parameters"]["listLimitParam"];
                /** @description next_cursor of the page before. */
                cursor?: components["parameters"]["cursorParam"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listHeld: {
        parameters: {
            query?: {
                /** @description Only of this board. */
                board?: components["schemas"]["BoardName"];
                /** @description Only of this member. */
                member?: components["schemas"]["MemberID"];
                /** @description waiting, unless another one is given. */
                state?: components["schemas"]["HeldState"];
                /** @description Length of the page. */
                limit?: components["parameters"]["listLimitParam"];
                /** @description next_cursor of the page before. */
                cursor?: components["parameters"]["cursorParam"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getHeld: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3690000000000000000 */
                id: components["parameters"]["heldParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    approveHeld: {
        parameters: {
            query?: {
                /** @description true: also in periods that have closed meanwhile, which corrects them; otherwise they are 409 period-closed. */
                reopen?: boolean;
            };
            header?: never;
            path: {
                /** @example 3690000000000000000 */
                id: components["parameters"]["heldParam"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Decision"];
            };
        };
        responses: never;
    };
    rejectHeld: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3690000000000000000 */
                id: components["parameters"]["heldParam"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Decision"];
            };
        };
        responses: never;
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description Only changes of the board that has, or had, this name. */
                board?: components["schemas"]["BoardName"];
                /** @description Only changes of this member. */
                member?: components["schemas"]["MemberID"];
                /** @description Only changes that were made with this key; of somebody who signed in, such as person:ada@example.com. */
                actor?: string;
                /** @description Only changes of this kind. */
                action?: components["schemas"]["AuditAction"];
                /** @description Only changes at this time or later. */
                since?: components["schemas"]["Time"];
                /** @description Only changes before this time. */
                until?: components["schemas"]["Time"];
                /** @description Length of the page. */
                limit?: components["parameters"]["listLimitParam"];
                /** @description next_cursor of the page before. */
                cursor?: components["parameters"]["cursorParam"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getAround: {
        parameters: {
            query?: {
                /** @description One of the board's windows; the first by default. A window that the board does not have is period-not-found, unless period names a period of a window that it had (all_time has one). */
                window?: components["parameters"]["windowParam"];
                /** @description current, previous, or the name of a period: 2026-11-20T13 (hour), 2026-11-20 (day), 2026-W47 (week), 2026-11 (month), 2026-Q4 (quarter), 2026 (year), the name of a season, all_time. Between seasons current is the last one. A period that is over and had no submissions is empty, also the one that ended last before the board was created; all_time and the first season have no previous one. A name that no period of the window can have is malformed; period-not-found is a period that has not begun, ended earlier before the board was made, is no longer kept, or is skipped by the board's time zone. */
                period?: components["parameters"]["periodParam"];
                /** @description How ties are numbered; by default as the board does. Strict and tied ranks are known at any depth, dense ones down to 100,000 entries; beyond is 422, /problems/mode-not-available. all gives strict_rank, tied_rank and dense_rank in place of rank: dense_rank is known on the first 10,000 entries, null where it is not known. */
                mode?: components["parameters"]["modeParam"];
                /** @description Answer from a state at least this new: the seq of a write makes it visible to the read. A board that is deleted and made again counts from 1: within 0.2 s another server may still answer from the old one, at its seq. */
                min_seq?: components["parameters"]["minSeqParam"];
                /** @description Show profiles with the entries. They may be up to 30 seconds old, unless put through the same server. When they cannot be looked up the answer shows those at hand and is stale. */
                profiles?: components["parameters"]["profilesParam"];
                /** @description Show the metadata of entries, on boards with the rule metadata. It always belongs to the entry that it is shown with. What is not in memory takes a question to MySQL, and is 503 while MySQL is away. */
                metadata?: components["parameters"]["metadataParam"];
                /** @description Entries ahead of the member. */
                before?: number;
                /** @description Entries behind the member. */
                after?: number;
            };
            header?: {
                /** @description ETags of answers at hand. */
                "If-None-Match"?: components["parameters"]["ifNoneMatchParam"];
            };
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listSubmissions: {
        parameters: {
            query?: {
                /** @description Length of the page. */
                limit?: components["parameters"]["listLimitParam"];
                /** @description next_cursor of the page before. */
                cursor?: components["parameters"]["cursorParam"];
            };
            header?: never;
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getHistory: {
        parameters: {
            query?: {
                /** @description One of the board's windows; the first by default. A window that the board does not have is period-not-found, unless period names a period of a window that it had (all_time has one). */
                window?: components["parameters"]["windowParam"];
                /** @description The least seq of the current period, as in the answer to a submission. */
                min_seq?: number;
                /** @description Show the metadata of entries, on boards with the rule metadata. It always belongs to the entry that it is shown with. What is not in memory takes a question to MySQL, and is 503 while MySQL is away. */
                metadata?: components["parameters"]["metadataParam"];
                /** @description Periods to look at. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: components["parameters"]["cursorParam"];
            };
            header?: {
                /** @description ETags of answers at hand. */
                "If-None-Match"?: components["parameters"]["ifNoneMatchParam"];
            };
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    findMembers: {
        parameters: {
            query: {
                /**
                 * @description The beginning of the name, of at most 100 bytes; one character that is not East Asian is a whole name.
                 * @example ada
                 */
                q: string;
                /** @description One of the board's windows; the first by default. A window that the board does not have is period-not-found, unless period names a period of a window that it had (all_time has one). */
                window?: components["parameters"]["windowParam"];
                /** @description current, previous, or the name of a period: 2026-11-20T13 (hour), 2026-11-20 (day), 2026-W47 (week), 2026-11 (month), 2026-Q4 (quarter), 2026 (year), the name of a season, all_time. Between seasons current is the last one. A period that is over and had no submissions is empty, also the one that ended last before the board was created; all_time and the first season have no previous one. A name that no period of the window can have is malformed; period-not-found is a period that has not begun, ended earlier before the board was made, is no longer kept, or is skipped by the board's time zone. */
                period?: components["parameters"]["periodParam"];
                /** @description How ties are numbered; by default as the board does. Strict and tied ranks are known at any depth, dense ones down to 100,000 entries; beyond is 422, /problems/mode-not-available. all gives strict_rank, tied_rank and dense_rank in place of rank: dense_rank is known on the first 10,000 entries, null where it is not known. */
                mode?: components["parameters"]["modeParam"];
                /** @description Answer from a state at least this new: the seq of a write makes it visible to the read. A board that is deleted and made again counts from 1: within 0.2 s another server may still answer from the old one, at its seq. */
                min_seq?: components["parameters"]["minSeqParam"];
                /** @description Show profiles with the entries. They may be up to 30 seconds old, unless put through the same server. When they cannot be looked up the answer shows those at hand and is stale. */
                profiles?: components["parameters"]["profilesParam"];
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: components["parameters"]["cursorParam"];
            };
            header?: {
                /** @description ETags of answers at hand. */
                "If-None-Match"?: components["parameters"]["ifNoneMatchParam"];
            };
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getBoardFriends: {
        parameters: {
            query?: {
                /** @description One of the board's windows; the first by default. A window that the board does not have is period-not-found, unless period names a period of a window that it had (all_time has one). */
                window?: components["parameters"]["windowParam"];
                /** @description current, previous, or the name of a period: 2026-11-20T13 (hour), 2026-11-20 (day), 2026-W47 (week), 2026-11 (month), 2026-Q4 (quarter), 2026 (year), the name of a season, all_time. Between seasons current is the last one. A period that is over and had no submissions is empty, also the one that ended last before the board was created; all_time and the first season have no previous one. A name that no period of the window can have is malformed; period-not-found is a period that has not begun, ended earlier before the board was made, is no longer kept, or is skipped by the board's time zone. */
                period?: components["parameters"]["periodParam"];
                /** @description How ties are numbered; by default as the board does. Strict and tied ranks are known at any depth, dense ones down to 100,000 entries; beyond is 422, /problems/mode-not-available. all gives strict_rank, tied_rank and dense_rank in place of rank: dense_rank is known on the first 10,000 entries, null where it is not known. */
                mode?: components["parameters"]["modeParam"];
                /** @description Answer from a state at least this new: the seq of a write makes it visible to the read. A board that is deleted and made again counts from 1: within 0.2 s another server may still answer from the old one, at its seq. */
                min_seq?: components["parameters"]["minSeqParam"];
                /** @description Show profiles with the entries. They may be up to 30 seconds old, unless put through the same server. When they cannot be looked up the answer shows those at hand and is stale. */
                profiles?: components["parameters"]["profilesParam"];
                /** @description Show the metadata of entries, on boards with the rule metadata. It always belongs to the entry that it is shown with. What is not in memory takes a question to MySQL, and is 503 while MySQL is away. */
                metadata?: components["parameters"]["metadataParam"];
                /** @description Entries of the page. */
                limit?: number;
                /** @description Entries to leave out from the best of them on. */
                offset?: number;
            };
            header?: {
                /** @description ETags of answers at hand. */
                "If-None-Match"?: components["parameters"]["ifNoneMatchParam"];
            };
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getTop: {
        parameters: {
            query?: {
                /** @description One of the board's windows; the first by default. A window that the board does not have is period-not-found, unless period names a period of a window that it had (all_time has one). */
                window?: components["parameters"]["windowParam"];
                /** @description current, previous, or the name of a period: 2026-11-20T13 (hour), 2026-11-20 (day), 2026-W47 (week), 2026-11 (month), 2026-Q4 (quarter), 2026 (year), the name of a season, all_time. Between seasons current is the last one. A period that is over and had no submissions is empty, also the one that ended last before the board was created; all_time and the first season have no previous one. A name that no period of the window can have is malformed; period-not-found is a period that has not begun, ended earlier before the board was made, is no longer kept, or is skipped by the board's time zone. */
                period?: components["parameters"]["periodParam"];
                /** @description How ties are numbered; by default as the board does. Strict and tied ranks are known at any depth, dense ones down to 100,000 entries; beyond is 422, /problems/mode-not-available. all gives strict_rank, tied_rank and dense_rank in place of rank: dense_rank is known on the first 10,000 entries, null where it is not known. */
                mode?: components["parameters"]["modeParam"];
                /** @description Answer from a state at least this new: the seq of a write makes it visible to the read. A board that is deleted and made again counts from 1: within 0.2 s another server may still answer from the old one, at its seq. */
                min_seq?: components["parameters"]["minSeqParam"];
                /** @description Show profiles with the entries. They may be up to 30 seconds old, unless put through the same server. When they cannot be looked up the answer shows those at hand and is stale. */
                profiles?: components["parameters"]["profilesParam"];
                /** @description Show the metadata of entries, on boards with the rule metadata. It always belongs to the entry that it is shown with. What is not in memory takes a question to MySQL, and is 503 while MySQL is away. */
                metadata?: components["parameters"]["metadataParam"];
                /** @description Entries of the page. */
                limit?: number;
                /** @description Entries to leave out from the best on. Not together with cursor. */
                offset?: number;
                /** @description next_cursor of the page before. */
                cursor?: components["parameters"]["cursorParam"];
            };
            header?: {
                /** @description ETags of answers at hand. */
                "If-None-Match"?: components["parameters"]["ifNoneMatchParam"];
            };
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getRanks: {
        parameters: {
            query?: {
                /** @description One of the board's windows; the first by default. A window that the board does not have is period-not-found, unless period names a period of a window that it had (all_time has one). */
                window?: components["parameters"]["windowParam"];
                /** @description current, previous, or the name of a period: 2026-11-20T13 (hour), 2026-11-20 (day), 2026-W47 (week), 2026-11 (month), 2026-Q4 (quarter), 2026 (year), the name of a season, all_time. Between seasons current is the last one. A period that is over and had no submissions is empty, also the one that ended last before the board was created; all_time and the first season have no previous one. A name that no period of the window can have is malformed; period-not-found is a period that has not begun, ended earlier before the board was made, is no longer kept, or is skipped by the board's time zone. */
                period?: components["parameters"]["periodParam"];
                /** @description How ties are numbered; by default as the board does. Strict and tied ranks are known at any depth, dense ones down to 100,000 entries; beyond is 422, /problems/mode-not-available. all gives strict_rank, tied_rank and dense_rank in place of rank: dense_rank is known on the first 10,000 entries, null where it is not known. */
                mode?: components["parameters"]["modeParam"];
                /** @description Answer from a state at least this new: the seq of a write makes it visible to the read. A board that is deleted and made again counts from 1: within 0.2 s another server may still answer from the old one, at its seq. */
                min_seq?: components["parameters"]["minSeqParam"];
                /** @description Show profiles with the entries. They may be up to 30 seconds old, unless put through the same server. When they cannot be looked up the answer shows those at hand and is stale. */
                profiles?: components["parameters"]["profilesParam"];
                /** @description Show the metadata of entries, on boards with the rule metadata. It always belongs to the entry that it is shown with. What is not in memory takes a question to MySQL, and is 503 while MySQL is away. */
                metadata?: components["parameters"]["metadataParam"];
            };
            header?: never;
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "members": [
                 *         "1",
                 *         "2",
                 *         "nobody"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["MemberList"];
            };
        };
        responses: never;
    };
    getScoreRank: {
        parameters: {
            query?: {
                /** @description One of the board's windows; the first by default. A window that the board does not have is period-not-found, unless period names a period of a window that it had (all_time has one). */
                window?: components["parameters"]["windowParam"];
                /** @description current, previous, or the name of a period: 2026-11-20T13 (hour), 2026-11-20 (day), 2026-W47 (week), 2026-11 (month), 2026-Q4 (quarter), 2026 (year), the name of a season, all_time. Between seasons current is the last one. A period that is over and had no submissions is empty, also the one that ended last before the board was created; all_time and the first season have no previous one. A name that no period of the window can have is malformed; period-not-found is a period that has not begun, ended earlier before the board was made, is no longer kept, or is skipped by the board's time zone. */
                period?: components["parameters"]["periodParam"];
                /** @description How ties are numbered; by default as the board does. Strict and tied ranks are known at any depth, dense ones down to 100,000 entries; beyond is 422, /problems/mode-not-available. all gives strict_rank, tied_rank and dense_rank in place of rank: dense_rank is known on the first 10,000 entries, null where it is not known. */
                mode?: components["parameters"]["modeParam"];
                /** @description Answer from a state at least this new: the seq of a write makes it visible to the read. A board that is deleted and made again counts from 1: within 0.2 s another server may still answer from the old one, at its seq. */
                min_seq?: components["parameters"]["minSeqParam"];
                /** @description The tiebreak of the new entry; 0 without it. A board with tiebreak fields needs it or fields. */
                tiebreak?: bigint;
                /** @description Instead of tiebreak: the values of all of the board's tiebreak fields, as name:value separated by commas. */
                fields?: string;
            };
            header?: {
                /** @description ETags of answers at hand. */
                "If-None-Match"?: components["parameters"]["ifNoneMatchParam"];
            };
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
                /**
                 * @description The score.
                 * @example 90
                 */
                score: bigint;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    streamPage: {
        parameters: {
            query?: {
                /** @description One of the board's windows; the first by default. A window that the board does not have is period-not-found, unless period names a period of a window that it had (all_time has one). */
                window?: components["parameters"]["windowParam"];
                /** @description How ties are numbered; by default as the board does. Strict and tied ranks are known at any depth, dense ones down to 100,000 entries; beyond is 422, /problems/mode-not-available. all gives strict_rank, tied_rank and dense_rank in place of rank: dense_rank is known on the first 10,000 entries, null where it is not known. */
                mode?: components["parameters"]["modeParam"];
                /** @description Entries of a page; not with `member`. */
                limit?: number;
                /** @description A member whose neighbours are wanted instead of the top. */
                member?: components["schemas"]["MemberID"];
                /** @description Who passed it. */
                passed?: boolean;
                /** @description With `member`: entries before it, `before` and `after` together up to 99. */
                before?: number;
                /** @description With `member`: entries after it. */
                after?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getDistribution: {
        parameters: {
            query?: {
                /** @description One of the board's windows; the first by default. A window that the board does not have is period-not-found, unless period names a period of a window that it had (all_time has one). */
                window?: components["parameters"]["windowParam"];
                /** @description current, previous, or the name of a period: 2026-11-20T13 (hour), 2026-11-20 (day), 2026-W47 (week), 2026-11 (month), 2026-Q4 (quarter), 2026 (year), the name of a season, all_time. Between seasons current is the last one. A period that is over and had no submissions is empty, also the one that ended last before the board was created; all_time and the first season have no previous one. A name that no period of the window can have is malformed; period-not-found is a period that has not begun, ended earlier before the board was made, is no longer kept, or is skipped by the board's time zone. */
                period?: components["parameters"]["periodParam"];
                /** @description How ties are numbered; by default as the board does. Strict and tied ranks are known at any depth, dense ones down to 100,000 entries; beyond is 422, /problems/mode-not-available. all gives strict_rank, tied_rank and dense_rank in place of rank: dense_rank is known on the first 10,000 entries, null where it is not known. */
                mode?: components["parameters"]["modeParam"];
                /** @description Answer from a state at least this new: the seq of a write makes it visible to the read. A board that is deleted and made again counts from 1: within 0.2 s another server may still answer from the old one, at its seq. */
                min_seq?: components["parameters"]["minSeqParam"];
                /** @description Buckets wanted; there may be fewer. */
                buckets?: number;
            };
            header?: {
                /** @description ETags of answers at hand. */
                "If-None-Match"?: components["parameters"]["ifNoneMatchParam"];
            };
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listPeriods: {
        parameters: {
            query?: {
                /** @description One of the board's windows; the first by default. A window that the board does not have is period-not-found, unless period names a period of a window that it had (all_time has one). */
                window?: components["parameters"]["windowParam"];
                /** @description Length of the page. */
                limit?: components["parameters"]["listLimitParam"];
                /** @description next_cursor of the page before. */
                cursor?: components["parameters"]["cursorParam"];
            };
            header?: never;
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getRace: {
        parameters: {
            query?: {
                /** @description One of the board's windows; the first by default. A window that the board does not have is period-not-found, unless period names a period of a window that it had (all_time has one). */
                window?: components["parameters"]["windowParam"];
                /** @description current, previous, or the name of a period: 2026-11-20T13 (hour), 2026-11-20 (day), 2026-W47 (week), 2026-11 (month), 2026-Q4 (quarter), 2026 (year), the name of a season, all_time. Between seasons current is the last one. A period that is over and had no submissions is empty, also the one that ended last before the board was created; all_time and the first season have no previous one. A name that no period of the window can have is malformed; period-not-found is a period that has not begun, ended earlier before the board was made, is no longer kept, or is skipped by the board's time zone. */
                period?: components["parameters"]["periodParam"];
            };
            header?: never;
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getActivity: {
        parameters: {
            query?: {
                /** @description Hours to count. */
                hours?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getMergedTop: {
        parameters: {
            query?: {
                /**
                 * @description Names of 1 to 50 boards, separated by commas. Either these or labels.
                 * @example demo
                 */
                boards?: components["parameters"]["boardsParam"];
                /** @description In place of boards: the boards with all of these labels that the caller may read, at most 50; 200 with those that the caller may not read. A label set through another server counts within a second. */
                labels?: components["parameters"]["boardLabelsParam"];
                /** @description One of the boards' windows; the first of each by default. A board without the window or the period is listed in absent; when none has it, that is period-not-found. */
                window?: components["parameters"]["boardsWindowParam"];
                /** @description current, previous, or the name of a period: 2026-11-20T13 (hour), 2026-11-20 (day), 2026-W47 (week), 2026-11 (month), 2026-Q4 (quarter), 2026 (year), the name of a season, all_time. Between seasons current is the last one. A period that is over and had no submissions is empty, also the one that ended last before the board was created; all_time and the first season have no previous one. A name that no period of the window can have is malformed; period-not-found is a period that has not begun, ended earlier before the board was made, is no longer kept, or is skipped by the board's time zone. */
                period?: components["parameters"]["periodParam"];
                /** @description How ties are numbered: strict or tied, known at any depth. By default as the boards do when all do the same, strict otherwise. all gives both, and dense_rank null; dense is 422, /problems/mode-not-available. */
                mode?: components["parameters"]["boardsModeParam"];
                /** @description Answer from states at least this new: board:seq pairs separated by commas, of any of the boards. The seq of a write makes it visible to the read. */
                min_seq?: components["parameters"]["boardsMinSeqParam"];
                /** @description Show profiles with the entries. They may be up to 30 seconds old, unless put through the same server. When they cannot be looked up the answer shows those at hand and is stale. */
                profiles?: components["parameters"]["profilesParam"];
                /** @description Entries of the page. */
                limit?: number;
                /** @description Entries to leave out from the best on. Not together with cursor. */
                offset?: number;
                /** @description next_cursor of the page before. */
                cursor?: components["parameters"]["cursorParam"];
            };
            header?: {
                /** @description ETags of answers at hand. */
                "If-None-Match"?: components["parameters"]["ifNoneMatchParam"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getMergedMember: {
        parameters: {
            query?: {
                /**
                 * @description Names of 1 to 50 boards, separated by commas. Either these or labels.
                 * @example demo
                 */
                boards?: components["parameters"]["boardsParam"];
                /** @description In place of boards: the boards with all of these labels that the caller may read, at most 50; 200 with those that the caller may not read. A label set through another server counts within a second. */
                labels?: components["parameters"]["boardLabelsParam"];
                /** @description One of the boards' windows; the first of each by default. A board without the window or the period is listed in absent; when none has it, that is period-not-found. */
                window?: components["parameters"]["boardsWindowParam"];
                /** @description current, previous, or the name of a period: 2026-11-20T13 (hour), 2026-11-20 (day), 2026-W47 (week), 2026-11 (month), 2026-Q4 (quarter), 2026 (year), the name of a season, all_time. Between seasons current is the last one. A period that is over and had no submissions is empty, also the one that ended last before the board was created; all_time and the first season have no previous one. A name that no period of the window can have is malformed; period-not-found is a period that has not begun, ended earlier before the board was made, is no longer kept, or is skipped by the board's time zone. */
                period?: components["parameters"]["periodParam"];
                /** @description How ties are numbered: strict or tied, known at any depth. By default as the boards do when all do the same, strict otherwise. all gives both, and dense_rank null; dense is 422, /problems/mode-not-available. */
                mode?: components["parameters"]["boardsModeParam"];
                /** @description Answer from states at least this new: board:seq pairs separated by commas, of any of the boards. The seq of a write makes it visible to the read. */
                min_seq?: components["parameters"]["boardsMinSeqParam"];
                /** @description Show profiles with the entries. They may be up to 30 seconds old, unless put through the same server. When they cannot be looked up the answer shows those at hand and is stale. */
                profiles?: components["parameters"]["profilesParam"];
            };
            header?: {
                /** @description ETags of answers at hand. */
                "If-None-Match"?: components["parameters"]["ifNoneMatchParam"];
            };
            path: {
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getMergedAround: {
        parameters: {
            query?: {
                /**
                 * @description Names of 1 to 50 boards, separated by commas. Either these or labels.
                 * @example demo
                 */
                boards?: components["parameters"]["boardsParam"];
                /** @description In place of boards: the boards with all of these labels that the caller may read, at most 50; 200 with those that the caller may not read. A label set through another server counts within a second. */
                labels?: components["parameters"]["boardLabelsParam"];
                /** @description One of the boards' windows; the first of each by default. A board without the window or the period is listed in absent; when none has it, that is period-not-found. */
                window?: components["parameters"]["boardsWindowParam"];
                /** @description current, previous, or the name of a period: 2026-11-20T13 (hour), 2026-11-20 (day), 2026-W47 (week), 2026-11 (month), 2026-Q4 (quarter), 2026 (year), the name of a season, all_time. Between seasons current is the last one. A period that is over and had no submissions is empty, also the one that ended last before the board was created; all_time and the first season have no previous one. A name that no period of the window can have is malformed; period-not-found is a period that has not begun, ended earlier before the board was made, is no longer kept, or is skipped by the board's time zone. */
                period?: components["parameters"]["periodParam"];
                /** @description How ties are numbered: strict or tied, known at any depth. By default as the boards do when all do the same, strict otherwise. all gives both, and dense_rank null; dense is 422, /problems/mode-not-available. */
                mode?: components["parameters"]["boardsModeParam"];
                /** @description Answer from states at least this new: board:seq pairs separated by commas, of any of the boards. The seq of a write makes it visible to the read. */
                min_seq?: components["parameters"]["boardsMinSeqParam"];
                /** @description Show profiles with the entries. They may be up to 30 seconds old, unless put through the same server. When they cannot be looked up the answer shows those at hand and is stale. */
                profiles?: components["parameters"]["profilesParam"];
                /** @description Entries ahead of the member. */
                before?: number;
                /** @description Entries behind the member. */
                after?: number;
            };
            header?: {
                /** @description ETags of answers at hand. */
                "If-None-Match"?: components["parameters"]["ifNoneMatchParam"];
            };
            path: {
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getSources: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    startRebuild: {
        parameters: {
            query?: {
                /** @description How long to wait for the end of the run, a Go duration up to 5m. Without it, or when the run takes longer, 202. */
                wait?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "kind": "full"
                 *     }
                 */
                "application/json": components["schemas"]["Rebuild"];
            };
        };
        responses: never;
    };
    verifyCopy: {
        parameters: {
            query?: {
                /** @description One of the board's windows; the first by default. A window that the board does not have is period-not-found, unless period names a period of a window that it had (all_time has one). */
                window?: components["parameters"]["windowParam"];
                /** @description current, previous, or the name of a period: 2026-11-20T13 (hour), 2026-11-20 (day), 2026-W47 (week), 2026-11 (month), 2026-Q4 (quarter), 2026 (year), the name of a season, all_time. Between seasons current is the last one. A period that is over and had no submissions is empty, also the one that ended last before the board was created; all_time and the first season have no previous one. A name that no period of the window can have is malformed; period-not-found is a period that has not begun, ended earlier before the board was made, is no longer kept, or is skipped by the board's time zone. */
                period?: components["parameters"]["periodParam"];
                /** @description copy: Redis with MySQL. sources: a derived board with its sources; other boards are 404. */
                against?: "copy" | "sources";
            };
            header?: never;
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    exportEntries: {
        parameters: {
            query?: {
                /** @description One of the board's windows; the first by default. A window that the board does not have is period-not-found, unless period names a period of a window that it had (all_time has one). */
                window?: components["parameters"]["windowParam"];
                /** @description current, previous, or the name of a period: 2026-11-20T13 (hour), 2026-11-20 (day), 2026-W47 (week), 2026-11 (month), 2026-Q4 (quarter), 2026 (year), the name of a season, all_time. Between seasons current is the last one. A period that is over and had no submissions is empty, also the one that ended last before the board was created; all_time and the first season have no previous one. A name that no period of the window can have is malformed; period-not-found is a period that has not begun, ended earlier before the board was made, is no longer kept, or is skipped by the board's time zone. */
                period?: components["parameters"]["periodParam"];
                /** @description CSV or JSON lines. */
                format?: "csv" | "jsonl";
                /** @description In CSV, an id that spreadsheets take for a formula (=1, +1, -1, @a) stands behind a quote: '=1; one that has such a quote, too: ''=1. leaderboard import takes it away. true: ids are as they are. */
                raw?: boolean;
                /** @description Add the metadata of the entries: the last column of CSV, empty for none, or a member of the objects. */
                metadata?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    readChanges: {
        parameters: {
            query?: {
                /** @description One of the board's windows; the first by default. A window that the board does not have is period-not-found, unless period names a period of a window that it had (all_time has one). */
                window?: components["parameters"]["windowParam"];
                /** @description A cursor; the changes behind it are given. */
                after?: string;
                /** @description Changes of an answer at most. */
                limit?: number;
                /** @description How long to wait for a change, up to 1m, such as 30s. */
                wait?: string;
            };
            header?: {
                /** @description A cursor in the place of after. */
                "Last-Event-ID"?: string;
            };
            path: {
                /**
                 * @description Name of the board.
                 * @example demo
                 */
                board: components["parameters"]["boardParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getStatus: {
        parameters: {
            query?: {
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: components["parameters"]["cursorParam"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listRuns: {
        parameters: {
            query?: {
                /** @description Only runs of this board. */
                board?: components["schemas"]["BoardName"];
                /** @description Length of the page. */
                limit?: components["parameters"]["listLimitParam"];
                /** @description next_cursor of the page before. */
                cursor?: components["parameters"]["cursorParam"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Number of the run.
                 * @example 1
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listKeys: {
        parameters: {
            query?: {
                /** @description Length of the page. */
                limit?: components["parameters"]["listLimitParam"];
                /** @description next_cursor of the page before. */
                cursor?: components["parameters"]["cursorParam"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    createKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "game1 backend",
                 *       "scope": "write",
                 *       "boards": [
                 *         "game1-*"
                 *       ],
                 *       "expires_at": null,
                 *       "quota": {
                 *         "requests_per_second": 50,
                 *         "rows_per_second": 5000
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["KeyRequest"];
            };
        };
        responses: never;
    };
    getOwnKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    keepKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "ttl": "1h"
                 *     }
                 */
                "application/json": components["schemas"]["KeptKey"];
            };
        };
        responses: never;
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    beginSignIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    finishSignIn: {
        parameters: {
            query?: {
                /**
                 * @description What the provider exchanges for a token once.
                 * @example c
                 */
                code?: string;
                /**
                 * @description As it was sent to the provider, and as the cookie of this browser has it.
                 * @example s
                 */
                state?: string;
                /** @description Why the provider signs nobody in. */
                error?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the key.
                 * @example k7f3a9c2e1b04d58
                 */
                id: components["parameters"]["keyParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the key.
                 * @example k7f3a9c2e1b04d58
                 */
                id: components["parameters"]["keyParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    changeKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the key.
                 * @example k7f3a9c2e1b04d58
                 */
                id: components["parameters"]["keyParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "boards": [
                 *         "game1-*",
                 *         "lobby"
                 *       ],
                 *       "quota": {
                 *         "rows_per_second": null
                 *       }
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["KeyPatch"];
                /**
                 * @example {
                 *       "expires_at": null
                 *     }
                 */
                "application/json": components["schemas"]["KeyPatch"];
            };
        };
        responses: never;
    };
    rotateKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the key.
                 * @example k7f3a9c2e1b04d58
                 */
                id: components["parameters"]["keyParam"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "overlap": "24h"
                 *     }
                 */
                "application/json": components["schemas"]["KeyRotation"];
            };
        };
        responses: never;
    };
    listEndpoints: {
        parameters: {
            query?: {
                /** @description Length of the page. */
                limit?: components["parameters"]["listLimitParam"];
                /** @description next_cursor of the page before. */
                cursor?: components["parameters"]["cursorParam"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the endpoint: [a-z0-9][a-z0-9._-]{0,63}.
                 * @example game
                 */
                name: components["parameters"]["endpointParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    putEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the endpoint: [a-z0-9][a-z0-9._-]{0,63}.
                 * @example game
                 */
                name: components["parameters"]["endpointParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://game.example/hooks",
                 *       "kinds": [
                 *         "period.closed"
                 *       ],
                 *       "boards": [
                 *         "game1-*"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["EndpointRequest"];
            };
        };
        responses: never;
    };
    deleteEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the endpoint: [a-z0-9][a-z0-9._-]{0,63}.
                 * @example game
                 */
                name: components["parameters"]["endpointParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    rotateEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the endpoint: [a-z0-9][a-z0-9._-]{0,63}.
                 * @example game
                 */
                name: components["parameters"]["endpointParam"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "overlap": "24h"
                 *     }
                 */
                "application/json": components["schemas"]["KeyRotation"];
            };
        };
        responses: never;
    };
    testEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the endpoint: [a-z0-9][a-z0-9._-]{0,63}.
                 * @example game
                 */
                name: components["parameters"]["endpointParam"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["EndpointTestRequest"];
            };
        };
        responses: never;
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description Only those in this state. */
                state?: components["schemas"]["DeliveryState"];
                /** @description Length of the page. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: components["parameters"]["cursorParam"];
            };
            header?: never;
            path: {
                /**
                 * @description Name of the endpoint: [a-z0-9][a-z0-9._-]{0,63}.
                 * @example game
                 */
                name: components["parameters"]["endpointParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    replayEvents: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the endpoint: [a-z0-9][a-z0-9._-]{0,63}.
                 * @example game
                 */
                name: components["parameters"]["endpointParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "since": "2026-11-20T00:00:00Z"
                 *     }
                 */
                "application/json": components["schemas"]["ReplayRequest"];
            };
        };
        responses: never;
    };
    listIssuers: {
        parameters: {
            query?: {
                /** @description Length of the page. */
                limit?: components["parameters"]["listLimitParam"];
                /** @description next_cursor of the page before. */
                cursor?: components["parameters"]["cursorParam"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getIssuer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the issuer.
                 * @example game1
                 */
                name: components["parameters"]["issuerParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    putIssuer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the issuer.
                 * @example game1
                 */
                name: components["parameters"]["issuerParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "issuer": "https://login.game1.example",
                 *       "audience": "game1",
                 *       "jwks_url": "https://login.game1.example/.well-known/jwks.json",
                 *       "algorithms": [
                 *         "RS256"
                 *       ],
                 *       "prefix": "g1:"
                 *     }
                 */
                "application/json": components["schemas"]["IssuerRules"];
            };
        };
        responses: never;
    };
    deleteIssuer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the issuer.
                 * @example game1
                 */
                name: components["parameters"]["issuerParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    createToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "member": "u1",
                 *       "boards": [
                 *         "demo"
                 *       ],
                 *       "ttl": "1h"
                 *     }
                 */
                "application/json": components["schemas"]["TokenRequest"];
            };
        };
        responses: never;
    };
    rotateTokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "overlap": "0s"
                 *     }
                 */
                "application/json": components["schemas"]["TokenRotation"];
            };
        };
        responses: never;
    };
    getBar: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    barMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "not_before": "2026-11-20T13:00:00Z"
                 *     }
                 */
                "application/json": components["schemas"]["BarRequest"];
            };
        };
        responses: never;
    };
    unbarMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getTokenKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    searchMembers: {
        parameters: {
            query?: {
                /** @description The beginning of the id or the name; without it, all members. At most 100 bytes. */
                q?: string;
                by?: "id" | "name";
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: components["parameters"]["cursorParam"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getProfile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    putProfile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "display_name": "Ada",
                 *       "attributes": {
                 *         "country": "DE",
                 *         "level": 7
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ProfileFields"];
            };
        };
        responses: never;
    };
    forgetMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    patchProfile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "attributes": {
                 *         "level": 8,
                 *         "clan": null
                 *       }
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["ProfilePatch"];
                /**
                 * @example {
                 *       "display_name": "Ada L."
                 *     }
                 */
                "application/json": components["schemas"]["ProfilePatch"];
            };
        };
        responses: never;
    };
    resetName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "a slur"
                 *     }
                 */
                "application/json": components["schemas"]["NameReset"];
            };
        };
        responses: never;
    };
    getMemberData: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getStandings: {
        parameters: {
            query?: {
                /**
                 * @description Names of 1 to 200 boards, separated by commas. Either these or labels.
                 * @example demo
                 */
                boards?: string;
                /** @description In place of boards: the boards with all of these labels that the caller may read; at most 200 boards may have them. A label set through another server counts within a second. */
                labels?: string;
                /** @description One of the boards' windows; the first of each by default. A board without the window or the period is listed in absent; when none has it, that is period-not-found. */
                window?: components["parameters"]["boardsWindowParam"];
                /** @description current, previous, or the name of a period: 2026-11-20T13 (hour), 2026-11-20 (day), 2026-W47 (week), 2026-11 (month), 2026-Q4 (quarter), 2026 (year), the name of a season, all_time. Between seasons current is the last one. A period that is over and had no submissions is empty, also the one that ended last before the board was created; all_time and the first season have no previous one. A name that no period of the window can have is malformed; period-not-found is a period that has not begun, ended earlier before the board was made, is no longer kept, or is skipped by the board's time zone. */
                period?: components["parameters"]["periodParam"];
                /** @description How ties are numbered: strict or tied. By default as each board does, a board of mode dense in mode tied. all gives both, and dense_rank null; dense is 422, /problems/mode-not-available. */
                mode?: components["schemas"]["QueryMode"];
                /** @description Answer from states at least this new: board:seq pairs separated by commas, of any of the boards. The seq of a write makes it visible to the read. */
                min_seq?: string;
                /** @description Show the metadata of the entries that have some; then there are at most 100 boards. */
                metadata?: boolean;
            };
            header?: {
                /** @description ETags of answers at hand. */
                "If-None-Match"?: components["parameters"]["ifNoneMatchParam"];
            };
            path: {
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listFriends: {
        parameters: {
            query?: {
                /** @description Length of the page. */
                limit?: components["parameters"]["listLimitParam"];
                /** @description next_cursor of the page before. */
                cursor?: components["parameters"]["cursorParam"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    putFriends: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "members": [
                 *         "2",
                 *         "3"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["FriendsGiven"];
            };
        };
        responses: never;
    };
    addFriends: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "members": [
                 *         "2",
                 *         "3"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["FriendsGiven"];
            };
        };
        responses: never;
    };
    removeFriend: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the member, percent-encoded.
                 * @example 1
                 */
                member: components["parameters"]["memberParam"];
                /**
                 * @description Id of the friend, percent-encoded.
                 * @example 2
                 */
                friend: components["schemas"]["MemberID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getLivez: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getReadyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getOpenAPI: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags of answers at hand. */
                "If-None-Match"?: components["parameters"]["ifNoneMatchParam"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getOpenAPIYAML: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags of answers at hand. */
                "If-None-Match"?: components["parameters"]["ifNoneMatchParam"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getDocs: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags of answers at hand. */
                "If-None-Match"?: components["parameters"]["ifNoneMatchParam"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getManualPage: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags of answers at hand. */
                "If-None-Match"?: components["parameters"]["ifNoneMatchParam"];
            };
            path: {
                /**
                 * @description Name of a document.
                 * @example boards
                 */
                page: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getProblemPage: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags of answers at hand. */
                "If-None-Match"?: components["parameters"]["ifNoneMatchParam"];
            };
            path: {
                /**
                 * @description Last part of a problem's type.
                 * @example not-ranked
                 */
                code: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getHome: {
        parameters: {
            query?: {
                /** @description As of GET /v1/boards. */
                labels?: string;
                /** @description As of GET /v1/boards. */
                cursor?: string;
                /** @description Language: ar, de, en, es, fr, ja or pt. Without it that of Accept-Language, or of the server. */
                lang?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getBoardPage: {
        parameters: {
            query?: {
                /** @description As of GET …/top. */
                window?: string;
                /** @description As of GET …/top. */
                period?: string;
                /** @description As of GET …/top. */
                mode?: string;
                /** @description A member to show, with the entries around it. */
                member?: string;
                /** @description Entries to leave out from the best on. */
                offset?: string;
                /** @description Instead of offset: a rank that the page must have. */
                rank?: string;
                /** @description Entries of the page, 1 to 100; 25, or 10 in a frame. */
                limit?: string;
                /** @description 1: for a frame of another site, or an overlay. */
                embed?: string;
                /** @description 1: with embed, the frame is transparent. */
                transparent?: string;
                /** @description dark or light: with embed, whatever the reader's machine prefers. */
                theme?: string;
                /** @description Language: ar, de, en, es, fr, ja or pt. Without it that of Accept-Language, or of the server. */
                lang?: string;
            };
            header?: never;
            path: {
                /** @description Name of the board. */
                board: components["schemas"]["BoardName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getBoardPicture: {
        parameters: {
            query?: {
                /** @description As of GET …/top. */
                window?: string;
                /** @description As of GET …/top. */
                period?: string;
                /** @description As of GET …/top. */
                mode?: string;
                /** @description A member, whose rank the picture says. */
                member?: string;
                /** @description Language, as of the page; without it that of the server. English when the fonts lack its letters, and for Arabic. */
                lang?: string;
            };
            header?: never;
            path: {
                /** @description Name of the board. */
                board: components["schemas"]["BoardName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getConsole: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getAsset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the file.
                 * @example board.js
                 */
                file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    periodClosedEvent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PeriodClosedEvent"];
            };
        };
        responses: {
            /** @description The endpoint is turned off. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It is taken. Any other answer is followed by another attempt. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    boardChangedEvent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BoardChangedEvent"];
            };
        };
        responses: {
            /** @description The endpoint is turned off. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It is taken. Any other answer is followed by another attempt. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    memberHiddenEvent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberEvent"];
            };
        };
        responses: {
            /** @description The endpoint is turned off. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It is taken. Any other answer is followed by another attempt. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    memberRestoredEvent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberEvent"];
            };
        };
        responses: {
            /** @description The endpoint is turned off. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It is taken. Any other answer is followed by another attempt. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    memberErasedEvent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberEvent"];
            };
        };
        responses: {
            /** @description The endpoint is turned off. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It is taken. Any other answer is followed by another attempt. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    memberPassedEvent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberPassedEvent"];
            };
        };
        responses: {
            /** @description The endpoint is turned off. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It is taken. Any other answer is followed by another attempt. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    submissionHeldEvent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubmissionEvent"];
            };
        };
        responses: {
            /** @description The endpoint is turned off. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It is taken. Any other answer is followed by another attempt. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    submissionApprovedEvent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubmissionEvent"];
            };
        };
        responses: {
            /** @description The endpoint is turned off. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It is taken. Any other answer is followed by another attempt. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    submissionRejectedEvent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubmissionEvent"];
            };
        };
        responses: {
            /** @description The endpoint is turned off. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It is taken. Any other answer is followed by another attempt. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
type WithRequired<T, K extends keyof T> = T & {
    [P in K]-?: T[P];
};
