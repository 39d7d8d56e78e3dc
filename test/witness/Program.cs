// What Microsoft.Data.SqlClient makes of a server: one JSON line for each thing tried.
// Arguments: host,port user password. The server answers the commands of test/helpers/tds-engine.ts.
using System.Data;
using System.Data.SqlTypes;
using System.Globalization;
using System.Text.Encodings.Web;
using System.Text.Json;
using Microsoft.Data.SqlClient;

CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
var json = new JsonSerializerOptions { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };
var builder = new SqlConnectionStringBuilder
{
    DataSource = args[0], UserID = args[1], Password = args[2], InitialCatalog = "shop", ApplicationName = "witness", WorkstationID = "witness",
    Encrypt = SqlConnectionEncryptOption.Optional, TrustServerCertificate = true, ConnectRetryCount = 0,
    ConnectTimeout = 10, MaxPoolSize = 4,
};

string Text(object value) => value switch
{
    DBNull => "NULL",
    byte[] bytes => "0x" + Convert.ToHexString(bytes),
    DateTime time => time.ToString("yyyy-MM-dd HH:mm:ss.fffffff"),
    DateTimeOffset time => time.ToString("yyyy-MM-dd HH:mm:ss.fffffff zzz"),
    double number => number.ToString("R"),
    float number => number.ToString("R"),
    IFormattable formattable => formattable.ToString(null, CultureInfo.InvariantCulture),
    _ => value.ToString() ?? "",
};

void Say(string what, object result) => Console.WriteLine(JsonSerializer.Serialize(new { what, result }, json));

void Try(string what, Func<object> work)
{
    try { Say(what, work()); }
    catch (SqlException e)
    {
        Say(what, new { e.Number, e.Class, e.State, e.LineNumber, e.Procedure, e.Message });
    }
    catch (Exception e) { Say(what, new { exception = e.GetType().Name, e.Message }); }
}

List<List<string>> Rows(SqlCommand command)
{
    var sets = new List<List<string>>();
    using var reader = command.ExecuteReader();
    do
    {
        var rows = new List<string>();
        while (reader.Read()) rows.Add(string.Join("|", Enumerable.Range(0, reader.FieldCount).Select(i => Text(reader.GetValue(i)))));
        sets.Add(rows);
    } while (reader.NextResult());
    return sets;
}

SqlConnection Open(Action<SqlConnectionStringBuilder>? change = null)
{
    var mine = new SqlConnectionStringBuilder(builder.ConnectionString);
    change?.Invoke(mine);
    var connection = new SqlConnection(mine.ConnectionString);
    connection.Open();
    return connection;
}

using var connection = Open();
Try("login", () => new { connection.Database, connection.DataSource.Length, connection.PacketSize, version = connection.ServerVersion });
Try("wrong password", () => Open(b => { b.Password = "wrong"; b.Pooling = false; }).State.ToString());
Try("recordsets", () => Rows(new SqlCommand("select 42; affect 3; select 43; proc", connection)));
Try("rows affected", () => new SqlCommand("affect 3; affect 4", connection).ExecuteNonQuery());
Try("messages", () =>
{
    var messages = new List<string>();
    void Hear(object _, SqlInfoMessageEventArgs e) => messages.Add(e.Message);
    connection.InfoMessage += Hear;
    Rows(new SqlCommand("print one; select 1; print two", connection));
    connection.InfoMessage -= Hear;
    return messages;
});
Try("error", () => Rows(new SqlCommand("select 1; error 8134", connection)));
Try("after the error", () => Rows(new SqlCommand("select 2", connection)));

(string Name, SqlDbType Type, object Value, byte Precision, byte Scale, int Size)[] values =
[
    ("bit", SqlDbType.Bit, true, 0, 0, 0), ("tinyint", SqlDbType.TinyInt, (byte)255, 0, 0, 0),
    ("smallint", SqlDbType.SmallInt, short.MinValue, 0, 0, 0), ("int", SqlDbType.Int, int.MinValue, 0, 0, 0),
    ("bigint", SqlDbType.BigInt, long.MaxValue, 0, 0, 0),
    ("decimal9", SqlDbType.Decimal, -1234567.89m, 9, 2, 0), ("decimal28", SqlDbType.Decimal, 7922816251426433759354395033.5m, 29, 1, 0),
    ("decimal38", SqlDbType.Decimal, SqlDecimal.Parse("0.0000000000000000001"), 38, 19, 0),
    ("money", SqlDbType.Money, -922337203685477.5808m, 0, 0, 0), ("smallmoney", SqlDbType.SmallMoney, 214748.3647m, 0, 0, 0),
    ("real", SqlDbType.Real, 1.1f, 0, 0, 0), ("float", SqlDbType.Float, double.MaxValue, 0, 0, 0),
    ("char", SqlDbType.Char, "äb€  ", 0, 0, 5), ("varchar", SqlDbType.VarChar, "äb€", 0, 0, 20),
    ("varcharmax", SqlDbType.VarChar, new string('x', 9000), 0, 0, -1),
    ("nchar", SqlDbType.NChar, "日本 ", 0, 0, 3), ("nvarchar", SqlDbType.NVarChar, "日本 😀", 0, 0, 40),
    ("nvarcharmax", SqlDbType.NVarChar, new string('ä', 9000), 0, 0, -1), ("empty", SqlDbType.NVarChar, "", 0, 0, 40),
    ("text", SqlDbType.Text, "texté", 0, 0, 0), ("ntext", SqlDbType.NText, "ntext日", 0, 0, 0),
    ("image", SqlDbType.Image, new byte[] { 1, 2, 3 }, 0, 0, 0),
    ("xml", SqlDbType.Xml, "<a>ä</a>", 0, 0, 0),
    ("binary", SqlDbType.Binary, new byte[] { 1, 2 }, 0, 0, 2), ("varbinary", SqlDbType.VarBinary, new byte[] { 0, 255 }, 0, 0, 20),
    ("varbinarymax", SqlDbType.VarBinary, new byte[9000], 0, 0, -1), ("timestamp", SqlDbType.Timestamp, new byte[8], 0, 0, 8),
    ("uniqueidentifier", SqlDbType.UniqueIdentifier, Guid.Parse("6F9619FF-8B86-D011-B42D-00C04FC964FF"), 0, 0, 0),
    ("date", SqlDbType.Date, new DateTime(9999, 12, 31), 0, 0, 0), ("time7", SqlDbType.Time, new TimeSpan(863999999999), 0, 7, 0),
    ("time0", SqlDbType.Time, new TimeSpan(10, 20, 30), 0, 0, 0),
    ("smalldatetime", SqlDbType.SmallDateTime, new DateTime(2079, 6, 6, 23, 59, 0), 0, 0, 0),
    ("datetime", SqlDbType.DateTime, new DateTime(9999, 12, 31, 23, 59, 59, 997), 0, 0, 0),
    ("datetime2", SqlDbType.DateTime2, DateTime.MaxValue, 0, 7, 0), ("datetime2min", SqlDbType.DateTime2, DateTime.MinValue, 0, 7, 0),
    ("datetimeoffset", SqlDbType.DateTimeOffset, new DateTimeOffset(2026, 11, 30, 10, 20, 30, 123, TimeSpan.FromHours(14)), 0, 7, 0),
    ("variantint", SqlDbType.Variant, 7, 0, 0, 0), ("varianttext", SqlDbType.Variant, "ä日", 0, 0, 0),
    ("variantdate", SqlDbType.Variant, new DateTime(2026, 11, 30, 10, 20, 30), 0, 0, 0),
    ("variantdecimal", SqlDbType.Variant, -1.50m, 0, 0, 0), ("variantguid", SqlDbType.Variant, Guid.Empty, 0, 0, 0),
];
foreach (var (name, type, value, precision, scale, size) in values)
{
    foreach (var given in new[] { value, DBNull.Value })
    {
        Try($"{name}{(given is DBNull ? " null" : "")}", () =>
        {
            using var command = new SqlCommand("echo", connection);
            command.Parameters.Add(new SqlParameter("@p", type) { Value = given, Precision = precision, Scale = scale, Size = size });
            using var reader = command.ExecuteReader();
            reader.Read();
            var text = reader.IsDBNull(0) ? "NULL" : type == SqlDbType.Decimal ? reader.GetSqlDecimal(0).ToString() : Text(reader.GetValue(0));
            return new { type = reader.GetDataTypeName(0), clr = reader.GetFieldType(0).Name, value = text.Length > 60 ? $"{text[..10]}... {text.Length}" : text };
        });
    }
}

Try("procedure", () =>
{
    using var command = new SqlCommand("dbo.echo", connection) { CommandType = CommandType.StoredProcedure };
    command.Parameters.Add(new SqlParameter("@a", 5));
    var output = command.Parameters.Add(new SqlParameter("@b", SqlDbType.NVarChar, 20) { Direction = ParameterDirection.InputOutput, Value = "out" });
    var status = command.Parameters.Add(new SqlParameter("@r", SqlDbType.Int) { Direction = ParameterDirection.ReturnValue });
    var rows = Rows(command);
    return new { rows, output = output.Value, status = status.Value };
});
Try("no procedure", () => new SqlCommand("dbo.nothing", connection) { CommandType = CommandType.StoredProcedure }.ExecuteNonQuery());
Try("prepared", () =>
{
    using var command = new SqlCommand("echo", connection);
    var parameter = command.Parameters.Add(new SqlParameter("@p", SqlDbType.Int));
    parameter.Value = 1;
    command.Prepare();
    var all = new List<string>();
    for (var n = 1; n <= 3; n++) { parameter.Value = n; all.Add(Rows(command)[0][0]); }
    return all;
});
Try("many rows", () => Rows(new SqlCommand("rows 20000", connection))[0].Count);
Try("cancel", () =>
{
    using var command = new SqlCommand("wait 60000", connection);
    _ = Task.Delay(200).ContinueWith(_ => command.Cancel());
    return command.ExecuteNonQuery();
});
Try("after the cancel", () => Rows(new SqlCommand("select 3", connection)));
Try("timeout", () => new SqlCommand("wait 60000", connection) { CommandTimeout = 1 }.ExecuteNonQuery());
Try("after the timeout", () => Rows(new SqlCommand("select 4", connection)));
Try("closed amid rows", () =>
{
    using (var reader = new SqlCommand("rows 100000000", connection).ExecuteReader())
    {
        reader.Read();
    }
    return Rows(new SqlCommand("select 5", connection));
});
Try("cancelled async", () =>
{
    using var source = new CancellationTokenSource(200);
    try { new SqlCommand("wait 60000", connection).ExecuteNonQueryAsync(source.Token).GetAwaiter().GetResult(); return "done"; }
    catch (Exception e) when (e is TaskCanceledException or SqlException) { return Rows(new SqlCommand("select 6", connection)); }
});
Try("transactions", () =>
{
    using (var transaction = connection.BeginTransaction(IsolationLevel.Serializable, "first"))
    {
        new SqlCommand("select 1", connection, transaction).ExecuteNonQuery();
        transaction.Save("mark");
        transaction.Commit();
    }
    using (var transaction = connection.BeginTransaction()) transaction.Rollback();
    return Rows(new SqlCommand("select 7", connection));
});
Try("pool", () =>
{
    for (var n = 0; n < 3; n++)
    {
        using var pooled = Open(b => b.ApplicationName = "pooled");
        Rows(new SqlCommand("select 8", pooled));
    }
    return "ok";
});
Try("fatal error", () =>
{
    using var other = Open(b => b.Pooling = false);
    try { new SqlCommand("fatal", other).ExecuteNonQuery(); }
    catch (SqlException e) { return new { e.Number, e.Class, state = other.State.ToString() }; }
    return "no error";
});
Try("encrypted", () =>
{
    using var secure = Open(b => b.Encrypt = SqlConnectionEncryptOption.Mandatory);
    return new { rows = Rows(new SqlCommand("rows 20000", secure))[0].Count };
});
foreach (var size in new[] { 512, 32767 })
    Try($"packets of {size}", () =>
    {
        using var other = Open(b => b.PacketSize = size);
        return new { other.PacketSize, rows = Rows(new SqlCommand("rows 5000", other))[0].Count };
    });
