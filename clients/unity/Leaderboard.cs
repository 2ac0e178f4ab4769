// The client of a leaderboard server for games in C#: Unity 2021.3 and later, and .NET (Standard 2.0). One file, no packages. It uses
// HttpClient, which Unity has everywhere but on the web. docs/clients.md says what a client does; https://…/docs of a server has the rest.
//
//   var leaderboard = new Leaderboard("https://scores.example", async cancel => await AskMyBackendForAToken(cancel));
//   var result = await leaderboard.Submit("spring", "ada", 4200);
//   var page = await leaderboard.Around("spring", "ada");
//
// Without ConfigureAwait, so that in Unity what follows an await runs on the main thread again: do not block on the tasks there.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace LeaderboardClient
{
    /// <summary>A member's place on a board.</summary>
    public sealed class Entry
    {
        public long Rank;
        public string Member;
        public long Score;
        public long Tiebreak;
        public string CreatedTime; // RFC 3339, with microseconds
    }

    /// <summary>A part of a ranking, in the state that has the number Seq.</summary>
    public sealed class Page
    {
        public string Period;
        public long Total; // entries of the period
        public long Seq;
        public bool Stale; // the database was away: there may be something newer
        public List<Entry> Entries = new List<Entry>();
        public string NextCursor; // null: no more pages
    }

    /// <summary>What became of a submission.</summary>
    public sealed class Result
    {
        public string Status; // applied, unchanged, rejected, unmet, aborted or held; later versions may have others
        public long? Score; // of the member, after it
        public long? PreviousScore;
        public string Problem; // why it was rejected or held, as in /problems/score-out-of-range
        public string Detail;
        public long Seq; // give it to a read as minSeq: that sees the submission
        public bool Replayed; // an earlier call under the same idempotencyKey had this result, and nothing counted again
    }

    /// <summary>The server refused a request, or could not answer it.</summary>
    public sealed class ProblemException : Exception
    {
        public readonly int Status;
        public readonly string Problem; // stable, as in /problems/not-ranked; "" when something between answered

        public ProblemException(int status, string problem, string detail) : base(status + " " + problem + ": " + detail)
        {
            Status = status;
            Problem = problem;
        }
    }

    public sealed class Leaderboard : IDisposable
    {
        /// <summary>For how long a call is repeated.</summary>
        public TimeSpan MaxWait = TimeSpan.FromSeconds(30);

        readonly string url;
        readonly Func<CancellationToken, Task<string>> newToken;
        readonly HttpClient http;
        readonly Random random = new Random();
        string token;

        /// <summary>newToken gets a token of the player, or null for what everybody may read. It is asked again when the server takes the
        /// token no longer. A key of the server belongs into a backend, never into a game.</summary>
        public Leaderboard(string url, Func<CancellationToken, Task<string>> newToken = null, HttpMessageHandler handler = null)
        {
            this.url = url.TrimEnd('/');
            this.newToken = newToken;
            http = handler == null ? new HttpClient() : new HttpClient(handler);
            http.Timeout = TimeSpan.FromSeconds(10); // of one attempt
        }

        public void Dispose()
        {
            http.Dispose();
        }

        /// <summary>Submit sends a score. The same idempotencyKey again, also after a restart of the game, returns the result of the first time; it
        /// is chosen here when it is null. play is the token of a play, on a board that wants one.</summary>
        public async Task<Result> Submit(string board, string member, long score, string idempotencyKey = null, string play = null, CancellationToken cancel = default(CancellationToken))
        {
            var body = new StringBuilder("{\"entries\":[{\"member\":");
            Json.Write(body, member);
            body.Append(",\"score\":").Append(score.ToString(CultureInfo.InvariantCulture));
            if (play != null)
            {
                body.Append(",\"play\":");
                Json.Write(body, play);
            }
            body.Append("}]}");
            var key = idempotencyKey ?? Guid.NewGuid().ToString();
            var answer = await Send(HttpMethod.Post, "/v1/boards/" + Part(board) + "/scores", body.ToString(), key, cancel);
            var first = (Dictionary<string, object>)((List<object>)answer["results"])[0];
            var result = new Result
            {
                Status = (string)first["status"],
                Score = (long?)first["score"],
                PreviousScore = (long?)first["previous_score"],
                Seq = (long)answer["seq"],
                Replayed = answer.ContainsKey("replayed"),
            };
            object error;
            if (first.TryGetValue("error", out error))
            {
                result.Problem = KindOf((string)((Dictionary<string, object>)error)["type"]);
                result.Detail = (string)((Dictionary<string, object>)error)["detail"];
            }
            return result;
        }

        /// <summary>Top reads the best entries, or those after the NextCursor of another page. mode is how ties are numbered: strict, tied or dense.</summary>
        public async Task<Page> Top(string board, int limit = 10, string cursor = null, string mode = null, string window = null, long minSeq = 0, CancellationToken cancel = default(CancellationToken))
        {
            var query = new Query().Add("limit", limit).Add("cursor", cursor).Add("mode", mode).Add("window", window).Add("min_seq", minSeq);
            return PageOf(await Send(HttpMethod.Get, "/v1/boards/" + Part(board) + "/top" + query, null, null, cancel));
        }

        /// <summary>Rank reads the entry of a member, null when it has none.</summary>
        public async Task<Entry> Rank(string board, string member, string mode = null, string window = null, long minSeq = 0, CancellationToken cancel = default(CancellationToken))
        {
            var query = new Query().Add("mode", mode).Add("window", window).Add("min_seq", minSeq);
            try
            {
                return EntryOf(await Send(HttpMethod.Get, "/v1/boards/" + Part(board) + "/members/" + Part(member) + query, null, null, cancel));
            }
            catch (ProblemException e) when (e.Problem == "/problems/not-ranked")
            {
                return null;
            }
        }

        /// <summary>Around reads a member and those before and after it, null when it has no entry.</summary>
        public async Task<Page> Around(string board, string member, int before = 5, int after = 5, string mode = null, string window = null, long minSeq = 0, CancellationToken cancel = default(CancellationToken))
        {
            var query = new Query().Add("before", before).Add("after", after).Add("mode", mode).Add("window", window).Add("min_seq", minSeq);
            try
            {
                return PageOf(await Send(HttpMethod.Get, "/v1/boards/" + Part(board) + "/members/" + Part(member) + "/around" + query, null, null, cancel));
            }
            catch (ProblemException e) when (e.Problem == "/problems/not-ranked")
            {
                return null;
            }
        }

        // Send repeats a request until it is answered, refused or MaxWait is over: after Retry-After and a random part of a second, or after pauses
        // that double. The body and the key stay the same, so that a score counts once.
        async Task<Dictionary<string, object>> Send(HttpMethod method, string path, string body, string idempotencyKey, CancellationToken cancel)
        {
            var began = Stopwatch.StartNew();
            var renewed = false;
            var maybeDone = false; // by an earlier attempt
            for (var longest = 0.1; ; longest = Math.Min(2 * longest, 5))
            {
                if (token == null && newToken != null)
                {
                    token = await newToken(cancel);
                }
                Exception failure;
                var pause = longest * (1 + Jitter()) / 2;
                try
                {
                    using (var request = new HttpRequestMessage(method, url + path))
                    {
                        if (token != null)
                        {
                            request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", token);
                        }
                        if (body != null)
                        {
                            request.Headers.Add("Idempotency-Key", idempotencyKey);
                            request.Content = new StringContent(body, Encoding.UTF8, "application/json");
                        }
                        using (var response = await http.SendAsync(request, cancel))
                        {
                            var text = await response.Content.ReadAsStringAsync();
                            var status = (int)response.StatusCode;
                            if (response.IsSuccessStatusCode)
                            {
                                var answer = Json.Read(text);
                                if (maybeDone)
                                {
                                    answer.Remove("replayed"); // it is of this very call
                                }
                                return answer;
                            }
                            if (status == 401 && newToken != null && !renewed)
                            {
                                renewed = true;
                                token = null;
                                continue;
                            }
                            failure = ProblemOf(status, text);
                            maybeDone |= status != 429 && !text.Contains("/problems/overloaded");
                            if (status != 408 && status != 429 && status != 502 && status != 503 && status != 504)
                            {
                                throw failure;
                            }
                            var asked = response.Headers.RetryAfter;
                            if (asked != null && asked.Delta.HasValue)
                            {
                                pause = asked.Delta.Value.TotalSeconds + Jitter();
                            }
                        }
                    }
                }
                catch (HttpRequestException e)
                {
                    maybeDone = true;
                    failure = e;
                }
                catch (TaskCanceledException e) when (!cancel.IsCancellationRequested) // no answer in time
                {
                    maybeDone = true;
                    failure = new TimeoutException("no answer in " + http.Timeout, e);
                }
                if (began.Elapsed.TotalSeconds + pause > MaxWait.TotalSeconds)
                {
                    throw failure;
                }
                await Task.Delay(TimeSpan.FromSeconds(pause), cancel);
            }
        }

        double Jitter()
        {
            lock (random)
            {
                return random.NextDouble();
            }
        }

        static string Part(string text)
        {
            return Uri.EscapeDataString(text);
        }

        // The type of a problem without the path below which the server may be.
        static string KindOf(string type)
        {
            return type.Substring(Math.Max(0, type.LastIndexOf("/problems/", StringComparison.Ordinal)));
        }

        static Exception ProblemOf(int status, string text)
        {
            try
            {
                var problem = Json.Read(text);
                return new ProblemException(status, KindOf((string)problem["type"]), (string)problem["detail"]);
            }
            catch (Exception e) when (e is FormatException || e is KeyNotFoundException || e is InvalidCastException)
            {
                return new ProblemException(status, "", text); // of a proxy
            }
        }

        static Page PageOf(Dictionary<string, object> answer)
        {
            var page = new Page
            {
                Period = (string)answer["period"],
                Total = (long)answer["total"],
                Seq = (long)answer["seq"],
                Stale = (bool)answer["stale"],
            };
            foreach (var entry in (List<object>)answer["entries"])
            {
                page.Entries.Add(EntryOf((Dictionary<string, object>)entry));
            }
            object cursor;
            if (answer.TryGetValue("next_cursor", out cursor))
            {
                page.NextCursor = (string)cursor;
            }
            return page;
        }

        static Entry EntryOf(Dictionary<string, object> fields)
        {
            return new Entry
            {
                Rank = (long)fields["rank"],
                Member = (string)fields["member"],
                Score = (long)fields["score"],
                Tiebreak = (long)fields["tiebreak"],
                CreatedTime = (string)fields["created_time"],
            };
        }

        sealed class Query
        {
            readonly StringBuilder text = new StringBuilder();

            public Query Add(string name, string value)
            {
                if (value != null)
                {
                    text.Append(text.Length == 0 ? '?' : '&').Append(name).Append('=').Append(Uri.EscapeDataString(value));
                }
                return this;
            }

            public Query Add(string name, long value)
            {
                return name == "min_seq" && value == 0 ? this : Add(name, value.ToString(CultureInfo.InvariantCulture));
            }

            public override string ToString()
            {
                return text.ToString();
            }
        }
    }

    // Json reads what the server sends: whole numbers as long, exactly, which JsonUtility and doubles can not.
    sealed class Json
    {
        readonly string text;
        int at;

        Json(string text)
        {
            this.text = text;
        }

        public static Dictionary<string, object> Read(string text)
        {
            var json = new Json(text);
            var value = json.Value() as Dictionary<string, object>;
            json.Space();
            if (value == null || json.at != text.Length)
            {
                throw new FormatException("no JSON object");
            }
            return value;
        }

        public static void Write(StringBuilder to, string text)
        {
            to.Append('"');
            foreach (var c in text)
            {
                if (c == '"' || c == '\\')
                {
                    to.Append('\\').Append(c);
                }
                else if (c < ' ')
                {
                    to.Append("\\u").Append(((int)c).ToString("x4", CultureInfo.InvariantCulture));
                }
                else
                {
                    to.Append(c);
                }
            }
            to.Append('"');
        }

        void Space()
        {
            while (at < text.Length && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t'))
            {
                at++;
            }
        }

        char Next()
        {
            Space();
            if (at == text.Length)
            {
                throw new FormatException("JSON ends too soon");
            }
            return text[at];
        }

        void Expect(char c)
        {
            if (Next() != c)
            {
                throw new FormatException("JSON has " + text[at] + " where " + c + " is wanted");
            }
            at++;
        }

        object Value()
        {
            switch (Next())
            {
                case '{':
                    return Object();
                case '[':
                    return Array();
                case '"':
                    return Text();
            }
            var begin = at;
            while (at < text.Length && ",]} \n\r\t".IndexOf(text[at]) < 0)
            {
                at++;
            }
            var word = text.Substring(begin, at - begin);
            switch (word)
            {
                case "null":
                    return null;
                case "true":
                    return true;
                case "false":
                    return false;
            }
            long whole;
            if (long.TryParse(word, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out whole))
            {
                return whole;
            }
            return double.Parse(word, NumberStyles.Float, CultureInfo.InvariantCulture);
        }

        Dictionary<string, object> Object()
        {
            var values = new Dictionary<string, object>();
            Expect('{');
            while (Next() != '}')
            {
                if (values.Count > 0)
                {
                    Expect(',');
                    Space();
                }
                var name = Text();
                Expect(':');
                values[name] = Value();
            }
            at++;
            return values;
        }

        List<object> Array()
        {
            var values = new List<object>();
            Expect('[');
            while (Next() != ']')
            {
                if (values.Count > 0)
                {
                    Expect(',');
                }
                values.Add(Value());
            }
            at++;
            return values;
        }

        string Text()
        {
            Expect('"');
            var to = new StringBuilder();
            while (at < text.Length && text[at] != '"')
            {
                var c = text[at++];
                if (c == '\\' && at < text.Length)
                {
                    c = text[at++];
                    var plain = "bfnrt".IndexOf(c);
                    if (plain >= 0)
                    {
                        c = "\b\f\n\r\t"[plain];
                    }
                    else if (c == 'u')
                    {
                        if (at + 4 > text.Length)
                        {
                            break;
                        }
                        c = (char)int.Parse(text.Substring(at, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture);
                        at += 4;
                    }
                }
                to.Append(c);
            }
            Expect('"');
            return to.ToString();
        }
    }
}
